#include "engine/requests.hpp"

namespace atone::features {

feature_table empty_table(feature_plan const& plan, std::size_t rows) {
  feature_table made;
  made.rows = rows;
  for (std::size_t at = 0; at < plan.columns.size(); ++at) {
    auto const& from = plan.columns[at];
    feature_column column;
    column.feature = from.feature;
    column.window = from.window;
    column.category = from.category;
    column.type = from.type;
    column.scale = from.scale;
    column.source = from.source;
    column.lanes = from.lanes;
    column.cells = std::make_unique_for_overwrite<std::int64_t[]>(rows * column.lanes);
    if (plan.nullable[at]) column.states = std::make_unique_for_overwrite<cell_state[]>(rows * column.lanes);
    made.columns.push_back(std::move(column));
  }
  return made;
}

result<void> check_times(timestamp at, timestamp known_at) {
  for (auto const one : {at, known_at}) {
    auto const time = one.time_since_epoch().count();
    if (time >= -time_max && time <= time_max) continue;
    return error{errc::invalid_argument,
                 "the time " + std::to_string(time) + " µs is out of bounds; expected at most " + std::to_string(time_max) + " either way"};
  }
  return {};
}

result<void> check_moments(event_store const& store, std::span<feature_moment const> moments) {
  for (auto const& one : moments) {
    if (auto done = check_times(one.as_of, one.known_at); !done) return done;
    if (one.entity && *one.entity >= store.entities.size()) {
      return error{errc::invalid_argument,
                   "found entity " + std::to_string(*one.entity) + "; the store has " + std::to_string(store.entities.size())};
    }
  }
  return {};
}

row_request request_for(event_store const& store, std::uint32_t entity, timestamp at, timestamp known_at) {
  row_request made;
  made.begin = store.offsets[entity];
  made.end = store.offsets[entity + 1];
  made.as_of = at.time_since_epoch().count();
  made.known_at = known_at.time_since_epoch().count();
  return made;
}

row_request request_for(event_store const& store, feature_moment const& moment) {
  if (moment.entity) return request_for(store, *moment.entity, moment.as_of, moment.known_at);
  row_request nobody;
  nobody.as_of = moment.as_of.time_since_epoch().count();
  return nobody;
}

row_request request_for_event(event_store const& store, std::vector<std::uint32_t> const& first, std::size_t row) {
  row_request made;
  made.begin = first[row];
  made.end = static_cast<std::uint32_t>(row) + 1;
  made.as_of = store.times[row];
  made.known_at = store.known_from.empty() ? 0 : store.known_from[row];
  return made;
}

std::vector<std::uint32_t> first_rows(event_store const& store) {
  std::vector<std::uint32_t> first(store.rows());
  for (std::size_t entity = 0; entity < store.entities.size(); ++entity) {
    for (auto row = store.offsets[entity]; row < store.offsets[entity + 1]; ++row) first[row] = store.offsets[entity];
  }
  return first;
}

result<std::vector<row_request>> requests_as_of(event_store const& store, timestamp at, timestamp known_at) {
  if (auto done = check_times(at, known_at); !done) return done.error();
  std::vector<row_request> made;
  made.reserve(store.entities.size());
  for (std::size_t entity = 0; entity < store.entities.size(); ++entity) {
    made.push_back(request_for(store, static_cast<std::uint32_t>(entity), at, known_at));
  }
  return made;
}

result<std::vector<row_request>> requests_at(event_store const& store, std::span<feature_moment const> moments) {
  if (auto done = check_moments(store, moments); !done) return done.error();
  std::vector<row_request> made;
  made.reserve(moments.size());
  for (auto const& one : moments) made.push_back(request_for(store, one));
  return made;
}

std::vector<row_request> requests_per_event(event_store const& store) {
  auto const first = first_rows(store);
  std::vector<row_request> made;
  made.reserve(first.size());
  for (std::size_t row = 0; row < first.size(); ++row) made.push_back(request_for_event(store, first, row));
  return made;
}

}  // namespace atone::features
