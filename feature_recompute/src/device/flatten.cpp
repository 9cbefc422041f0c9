#include "device/flatten.hpp"

#include "engine/visible.hpp"

namespace atone::features {
namespace {

template <class T>
flat_list<T> list_of(std::vector<T> const& from) {
  return flat_list<T>{from.data(), static_cast<std::uint32_t>(from.size())};
}

flat_frame flat(feature_set const& set, frame const& from) {
  auto const& window = set.windows[from.window];
  flat_frame made;
  if (window.kind == window_kind::last) made.length = window.length.count();
  if (window.kind == window_kind::rows) made.rows = window.rows;
  made.filter = from.filter;
  return made;
}

std::vector<bool> columns_read(feature_set const& set, feature_plan const& plan) {
  std::vector<bool> read(set.columns.size());
  for (auto const& one : plan.walks) {
    if (one.column != no_column) read[one.column] = true;
  }
  for (auto const& conditions : plan.filters) {
    for (auto const& one : conditions) read[one.column] = true;
  }
  return read;
}

}  // namespace

flat_plan_arrays::flat_plan_arrays(feature_set const& set, feature_plan const& plan, event_store const& store) : plan_(plan) {
  for (auto const& conditions : plan.filters) {
    flat_filter filter;
    filter.first_condition = static_cast<std::uint32_t>(conditions_.size());
    for (auto const& from : conditions) {
      flat_condition made;
      made.column = from.column;
      made.is_range = from.is_range;
      made.least = from.least;
      made.most = from.most;
      made.first_number = static_cast<std::uint32_t>(numbers_.size());
      if (!store.columns.empty()) {
        auto const codes = codes_of(from, store.columns[from.column]);
        numbers_.insert(numbers_.end(), codes.begin(), codes.end());
      }
      made.end_number = static_cast<std::uint32_t>(numbers_.size());
      conditions_.push_back(made);
    }
    filter.end_condition = static_cast<std::uint32_t>(conditions_.size());
    filters_.push_back(filter);
  }
  for (auto const& one : plan.time_frames) frames_.push_back(flat(set, one));
  for (auto const& one : plan.row_frames) frames_.push_back(flat(set, one));
}

flat_plan flat_plan_arrays::view() const {
  flat_plan made;
  made.numbers = list_of(numbers_);
  made.conditions = list_of(conditions_);
  made.filters = list_of(filters_);
  made.frames = list_of(frames_);
  made.walks = list_of(plan_.walks);
  made.stops = list_of(plan_.stops);
  made.sinks = list_of(plan_.sinks);
  made.quotients = list_of(plan_.quotients);
  return made;
}

flat_store_columns::flat_store_columns(feature_set const& set, feature_plan const& plan, event_store const& store) {
  store_.rows = static_cast<std::uint32_t>(store.rows());
  store_.times = store.times.data();
  if (set.known_at && !store.known_from.empty()) {
    store_.known_from = store.known_from.data();
    store_.known_until = store.known_until.data();
  }
  auto const read = columns_read(set, plan);
  columns_.resize(set.columns.size());
  for (std::uint32_t at = 0; at < columns_.size() && at < store.columns.size(); ++at) {
    if (!read[at]) continue;
    auto const& from = store.columns[at];
    columns_[at].values = values_of(set, store, at);
    columns_[at].nulls = from.nulls.empty() ? nullptr : from.nulls.data();
    columns_[at].nulls_count = columns_[at].values == from.values.data();
  }
}

flat_store flat_store_columns::view() const {
  auto made = store_;
  made.columns = list_of(columns_);
  return made;
}

std::string not_computed(feature_set const& set, std::uint64_t computed) {
  for (auto const& one : set.features) {
    if ((computed & bit_of(one.what)) == 0) return "feature '" + one.name + "' (" + std::string{name(one.what)} + ")";
  }
  return {};
}

}  // namespace atone::features
