#include "store/unite.hpp"

#include <algorithm>
#include <limits>

namespace atone::features {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t small_segment = 16;  // rows up to which comparing each with each is quicker than sorting

class uniter {
 public:
  uniter(feature_set const& of, event_store& store) : set_(of), store_(store), ids_(store.columns[of.event_id].values) {}

  result<void> run() {
    for (std::size_t entity = 0; entity < store_.entities.size(); ++entity) {
      auto const begin = store_.offsets[entity];
      auto const end = store_.offsets[entity + 1];
      if (!has_repeats(begin, end)) continue;
      auto done = unite(begin, end);
      if (!done) return error{errc::invalid_argument, done.error().message + " (" + entity_words(entity) + ")"};
    }
    if (dropped_ > 0) drop();
    store_.left_out.duplicates = dropped_;
    return {};
  }

 private:
  std::int64_t known(std::uint32_t row) const { return store_.known_from.empty() ? 0 : store_.known_from[row]; }

  std::string entity_words(std::size_t entity) const {
    return "entity " + shown_key(store_.columns[set_.entity], set_.columns[set_.entity].type, store_.entities[entity]);
  }

  bool has_repeats(std::uint32_t begin, std::uint32_t end) {
    if (end - begin <= small_segment) {
      for (auto left = begin; left < end; ++left) {
        for (auto right = left + 1; right < end; ++right) {
          if (ids_[left] == ids_[right]) return true;
        }
      }
      return false;
    }
    sorted_.clear();
    for (auto row = begin; row < end; ++row) sorted_.emplace_back(ids_[row], row);
    std::sort(sorted_.begin(), sorted_.end());
    auto const same = [](auto const& left, auto const& right) { return left.first == right.first; };
    return std::adjacent_find(sorted_.begin(), sorted_.end(), same) != sorted_.end();
  }

  bool equal_content(std::uint32_t left, std::uint32_t right) const {
    if (store_.times[left] != store_.times[right]) return false;
    return std::all_of(store_.columns.begin(), store_.columns.end(), [&](event_column const& column) {
      if (column.values.empty()) return true;
      if (column.is_null(left) != column.is_null(right)) return false;
      return column.is_null(left) || column.values[left] == column.values[right];
    });
  }

  void drop_later(std::uint32_t row) {
    if (keep_.empty()) keep_.assign(store_.rows(), 1);
    keep_[row] = 0;
    ++dropped_;
  }

  // Rows of one id follow each other in `sorted_`, the earliest known first.
  result<void> unite(std::uint32_t begin, std::uint32_t end) {
    sorted_.clear();
    for (auto row = begin; row < end; ++row) sorted_.emplace_back(ids_[row], row);
    std::sort(sorted_.begin(), sorted_.end(), [&](auto const& left, auto const& right) {
      if (left.first != right.first) return left.first < right.first;
      return std::pair{known(left.second), left.second} < std::pair{known(right.second), right.second};
    });
    auto newest = sorted_[0].second;
    for (std::size_t at = 1; at < sorted_.size(); ++at) {
      auto const row = sorted_[at].second;
      if (sorted_[at].first != ids_[newest]) {
        newest = row;
        continue;
      }
      // Against the row before, not only the newest version: rows that became known together must agree whatever was known before.
      auto const before = sorted_[at - 1].second;
      if (known(before) == known(row) && !equal_content(before, row)) return two_contents(row);
      if (equal_content(newest, row)) {
        drop_later(row);
      } else {
        store_.known_until[newest] = known(row);
        newest = row;
      }
    }
    return {};
  }

  error two_contents(std::uint32_t row) const {
    auto const id = shown_key(store_.columns[set_.event_id], set_.columns[set_.event_id].type, ids_[row]);
    return error{errc::invalid_argument, "event " + id + " came with two contents; expected the same each time"};
  }

  template <class T>
  void squeeze(std::vector<T>& values) const {
    if (values.empty()) return;
    std::size_t into = 0;
    for (std::size_t row = 0; row < keep_.size(); ++row) {
      if (keep_[row] != 0) values[into++] = values[row];
    }
    values.resize(into);
  }

  void drop() {
    std::uint32_t kept = 0;
    std::size_t entity = 0;
    for (std::uint32_t row = 0; row <= keep_.size(); ++row) {
      while (entity < store_.offsets.size() && store_.offsets[entity] == row) store_.offsets[entity++] = kept;
      if (row < keep_.size()) kept += keep_[row];
    }
    squeeze(store_.times);
    squeeze(store_.known_from);
    squeeze(store_.known_until);
    for (auto& column : store_.columns) {
      squeeze(column.values);
      squeeze(column.nulls);
    }
  }

  feature_set const& set_;
  event_store& store_;
  std::vector<std::int64_t> const& ids_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> sorted_;
  std::vector<std::uint8_t> keep_;
  std::size_t dropped_ = 0;
};

}  // namespace

std::string shown_key(event_column const& column, column_type type, std::int64_t value) {
  if (type != column_type::text) return std::to_string(value);
  return "'" + column.words[static_cast<std::size_t>(value)] + "'";
}

result<void> unite_rows(feature_set const& of, event_store& store) {
  store.known_until.assign(store.known_from.size(), never);
  return uniter{of, store}.run();
}

}  // namespace atone::features
