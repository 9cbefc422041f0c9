#include "service/entity_rows.hpp"

namespace atone::features {
namespace {

constexpr std::size_t looked_through = 64;  // rows up to which looking at each is quicker than an index

bool same_event(row_layout const& of, packed_row left, packed_row right) noexcept {
  return left[of.id] == right[of.id] && (of.known == row_layout::nowhere || left[of.known] == right[of.known]);
}

}  // namespace

std::int64_t dictionary::number_of(std::string_view word) {
  if (auto const known = find(word)) return *known;
  words_.push_back(nullptr);  // first: where memory ends, a number is lost and no word has a wrong one
  auto const made = numbers_.emplace(std::string{word}, static_cast<std::int64_t>(words_.size()) - 1).first;
  words_.back() = &made->first;
  return made->second;
}

std::optional<std::int64_t> dictionary::find(std::string_view word) const {
  auto const found = numbers_.find(word);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

row_layout::row_layout(feature_set const& of) : slots(of.columns.size(), nowhere) {
  slots[of.event_time] = time;
  if (of.known_at) known = slots[*of.known_at] = width++;
  for (std::size_t column = 0; column < slots.size(); ++column) {
    if (column != of.entity && slots[column] == nowhere) slots[column] = width++;
  }
  id = slots[of.event_id];
  id_column = of.event_id;
  id_is_text = of.columns[of.event_id].type == column_type::text;
}

std::optional<packed_row> entity_rows::same(row_layout const& of, packed_row as) const {
  if (times_ == nullptr) {
    for (std::size_t at = 0; at < count_; ++at) {
      if (same_event(of, row(of, at), as)) return row(of, at);
    }
    return std::nullopt;
  }
  auto const [begin, end] = times_->equal_range(as[of.id]);
  for (auto one = begin; one != end; ++one) {
    std::size_t low = 0;
    for (auto high = count_; low < high;) {
      auto const middle = low + (high - low) / 2;
      row(of, middle)[row_layout::time] < one->second ? low = middle + 1 : high = middle;
    }
    for (; low < count_ && row(of, low)[row_layout::time] == one->second; ++low) {
      if (same_event(of, row(of, low), as)) return row(of, low);
    }
  }
  return std::nullopt;
}

std::size_t entity_rows::place_of(row_layout const& of, dictionary const& ids, packed_row row_in) const {
  auto const goes_before = [&](packed_row other) {
    if (row_in[row_layout::time] != other[row_layout::time]) return row_in[row_layout::time] < other[row_layout::time];
    if (row_in[of.id] != other[of.id]) {
      return of.id_is_text ? ids.word(row_in[of.id]) < ids.word(other[of.id]) : row_in[of.id] < other[of.id];
    }
    return of.known != row_layout::nowhere && row_in[of.known] < other[of.known];
  };
  if (count_ == 0 || !goes_before(row(of, count_ - 1))) return count_;  // as most come
  std::size_t low = 0;
  for (auto high = count_; low < high;) {
    auto const middle = low + (high - low) / 2;
    goes_before(row(of, middle)) ? high = middle : low = middle + 1;
  }
  return low;
}

void entity_rows::insert(row_layout const& of, dictionary const& ids, packed_row row_in) {
  auto const place = place_of(of, ids, row_in);
  cells_.insert(cells_.begin() + static_cast<std::ptrdiff_t>(place * of.width), row_in.begin(), row_in.end());
  ++count_;
  if (times_ != nullptr) {
    times_->emplace(row_in[of.id], row_in[row_layout::time]);
  } else if (count_ > looked_through) {
    times_ = std::make_unique<std::unordered_multimap<std::int64_t, std::int64_t>>();
    for (std::size_t at = 0; at < count_; ++at) times_->emplace(row(of, at)[of.id], row(of, at)[row_layout::time]);
  }
}

}  // namespace atone::features
