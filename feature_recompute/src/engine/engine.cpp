#include <atone/features/engine.hpp>

#include <algorithm>
#include <cstring>

#include "engine/plan.hpp"
#include "engine/visible.hpp"
#include "engine/walker.hpp"

namespace atone::features {
namespace {

// Rows of results that one part of a job computes.
constexpr std::size_t part_rows = 4096;

// A table for so many rows; its memory is written first by the thread that computes it.
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

bool in_bounds(timestamp at) {
  auto const time = at.time_since_epoch().count();
  return time >= -time_max && time <= time_max;
}

error out_of_bounds(timestamp at) {
  return error{errc::invalid_argument, "the time " + std::to_string(at.time_since_epoch().count()) +
                                           " µs is out of bounds; expected at most " + std::to_string(time_max) + " either way"};
}

// `request_of(row)` says what a row is made from.
template <class RequestOf>
feature_table compute(feature_set const& set, feature_plan const& plan, event_store const& store, std::size_t rows, parallel const& how,
                      RequestOf const& request_of) {
  auto table = empty_table(plan, rows);
  bound_filters const filters{set, plan, store};
  how((rows + part_rows - 1) / part_rows, [&](std::size_t part) {
    walker one{set, plan, store, filters, table};
    auto const end = std::min(rows, (part + 1) * part_rows);
    one.begin(part * part_rows);
    for (auto row = part * part_rows; row < end; ++row) one.add(request_of(row));
    one.finish();
  });
  return table;
}

row_request request_for(event_store const& store, std::uint32_t entity, timestamp at, timestamp known_at) {
  row_request made;
  made.begin = store.offsets[entity];
  made.end = store.offsets[entity + 1];
  made.as_of = at.time_since_epoch().count();
  made.known_at = known_at.time_since_epoch().count();
  return made;
}

}  // namespace

double feature_column::real(std::size_t row) const noexcept {
  double value = 0;
  std::memcpy(&value, &cells[row * lanes], sizeof value);
  return value;
}

feature_engine::feature_engine(feature_set_ptr set) : set_(std::move(set)), plan_(std::make_unique<feature_plan const>(compile(*set_))) {}
feature_engine::~feature_engine() = default;
feature_engine::feature_engine(feature_engine&&) noexcept = default;
feature_engine& feature_engine::operator=(feature_engine&&) noexcept = default;

result<feature_table> feature_engine::as_of(event_store const& store, timestamp at, timestamp known_at, parallel const& how) const {
  for (auto const time : {at, known_at}) {
    if (!in_bounds(time)) return out_of_bounds(time);
  }
  return compute(*set_, *plan_, store, store.entities.size(), how,
                 [&](std::size_t row) { return request_for(store, static_cast<std::uint32_t>(row), at, known_at); });
}

result<feature_table> feature_engine::at(event_store const& store, std::span<feature_moment const> moments_wanted,
                                         parallel const& how) const {
  for (auto const& one : moments_wanted) {
    for (auto const time : {one.as_of, one.known_at}) {
      if (!in_bounds(time)) return out_of_bounds(time);
    }
    if (one.entity && *one.entity >= store.entities.size()) {
      return error{errc::invalid_argument,
                   "found entity " + std::to_string(*one.entity) + "; the store has " + std::to_string(store.entities.size())};
    }
  }
  return compute(*set_, *plan_, store, moments_wanted.size(), how, [&](std::size_t row) {
    auto const& one = moments_wanted[row];
    if (one.entity) return request_for(store, *one.entity, one.as_of, one.known_at);
    row_request nobody;
    nobody.as_of = one.as_of.time_since_epoch().count();
    return nobody;
  });
}

result<feature_table> feature_engine::per_event(event_store const& store, parallel const& how) const {
  std::vector<std::uint32_t> first(store.rows());
  for (std::size_t entity = 0; entity < store.entities.size(); ++entity) {
    for (auto row = store.offsets[entity]; row < store.offsets[entity + 1]; ++row) first[row] = store.offsets[entity];
  }
  return compute(*set_, *plan_, store, store.rows(), how, [&](std::size_t row) {
    row_request made;
    made.begin = first[row];
    made.end = static_cast<std::uint32_t>(row) + 1;
    made.as_of = store.times[row];
    made.known_at = store.known_from.empty() ? 0 : store.known_from[row];
    return made;
  });
}

}  // namespace atone::features
