#include "engine/visible.hpp"

#include <algorithm>

namespace atone::features {

std::int64_t const* values_of(feature_set const& set, event_store const& store, std::uint32_t column) {
  if (column == set.event_time) return store.times.data();
  if (set.known_at && column == *set.known_at) return store.known_from.data();
  return store.columns[column].values.data();
}

std::vector<std::int64_t> codes_of(condition const& of, event_column const& column) {
  auto codes = of.numbers;
  for (auto const& word : of.words) {
    auto const found = std::lower_bound(column.words.begin(), column.words.end(), word);
    if (found != column.words.end() && *found == word) codes.push_back(found - column.words.begin());
  }
  return codes;
}

namespace {

bound_condition bind(feature_set const& set, event_store const& store, condition const& from) {
  bound_condition made;
  auto const& column = store.columns[from.column];
  made.values = values_of(set, store, from.column);
  made.nulls = column.nulls.empty() ? nullptr : column.nulls.data();
  made.is_range = from.is_range;
  made.least = from.least;
  made.most = from.most;
  made.numbers = codes_of(from, column);
  return made;
}

bool satisfies(bound_condition const& with, std::size_t row) {
  if (with.nulls != nullptr && with.nulls[row] != 0) return false;
  auto const value = with.values[row];
  if (with.is_range) return value >= with.least && value <= with.most;
  if (with.numbers.size() == 1) return value == with.numbers[0];
  return std::binary_search(with.numbers.begin(), with.numbers.end(), value);
}

}  // namespace

bound_filters::bound_filters(feature_set const& set, feature_plan const& plan, event_store const& store) {
  filters_.resize(plan.filters.size());
  if (store.rows() == 0) return;  // nothing to pass: such a store may have no columns at all
  for (std::size_t filter = 0; filter < plan.filters.size(); ++filter) {
    std::vector<bound_condition> bound;
    for (auto const& one : plan.filters[filter]) bound.push_back(bind(set, store, one));
    filters_[filter] = std::move(bound);
  }
  if (!set.known_at || store.known_from.empty()) return;
  known_from_ = store.known_from.data();
  known_until_ = store.known_until.data();
}

void bound_filters::append(std::uint32_t begin, std::uint32_t end, std::int64_t known_at, std::vector<std::uint64_t>& masks) const {
  auto const before = masks.size();
  masks.resize(before + (end - begin), ~std::uint64_t{0});
  auto* const mask = masks.data() + before;
  for (auto row = begin; known_from_ != nullptr && row < end; ++row) {
    if (known_from_[row] > known_at || known_until_[row] <= known_at) mask[row - begin] = 0;
  }
  for (std::size_t filter = 1; filter < filters_.size(); ++filter) {
    auto const without = ~(std::uint64_t{1} << filter);
    for (auto const& with : filters_[filter]) {
      for (auto row = begin; row < end; ++row) mask[row - begin] &= satisfies(with, row) ? ~std::uint64_t{0} : without;
    }
  }
}

}  // namespace atone::features
