#include "support.hpp"

#include <bit>

#include <gtest/gtest.h>

#include <atone/json.hpp>

namespace atone::features_test {

using namespace features;

feature_set_ptr set_of(std::string const& yaml) {
  auto done = load_feature_set(yaml);
  EXPECT_TRUE(done.ok()) << said_of(yaml) << yaml;
  return done.set;
}

std::string said_of(std::string const& yaml) {
  std::string text;
  for (auto const& one : load_feature_set(yaml).diagnostics) text += format(one, "set.yaml") + "\n";
  return text;
}

event_table table_of(feature_set const& set, raw_rows const& rows) {
  event_table table{set};
  for (std::size_t column = 0; column < set.columns.size(); ++column) {
    auto& into = table.columns[column];
    for (auto const& row : rows) {
      auto const& value = row.at(column);
      bool const null = std::holds_alternative<std::monostate>(value);
      if (null && into.nulls.empty()) into.nulls.assign(into.values.size(), 0);
      if (null || !into.nulls.empty()) into.nulls.push_back(null ? 1 : 0);
      if (auto const* word = std::get_if<std::string>(&value)) {
        into.values.push_back(static_cast<std::int64_t>(into.words.size()));  // words may stand there twice
        into.words.push_back(*word);
      } else {
        into.values.push_back(null ? 0 : std::get<std::int64_t>(value));
      }
    }
  }
  return table;
}

event_store store_of(feature_set const& set, raw_rows const& rows) {
  auto store = sort_events(set, table_of(set, rows));
  EXPECT_TRUE(store) << store.error().message;
  return store ? std::move(*store) : event_store{};
}

std::string refusal_of(feature_set const& set, raw_rows const& rows) {
  auto const store = sort_events(set, table_of(set, rows));
  return store ? std::string{} : store.error().message;
}

namespace {

std::string real_text(double value) {
  json::writer out;
  out.number(value);
  return out.take();
}

std::string lane_text(event_store const& store, feature_column const& column, std::size_t row, std::size_t lane) {
  if (column.state(row, lane) == cell_state::null) return "null";
  if (column.state(row, lane) == cell_state::overflow) return "overflow";
  auto const value = column.integer(row, lane);
  if (column.type == cell_type::real) return real_text(column.real(row));
  if (column.type == cell_type::text) return store.columns[column.source].words.at(static_cast<std::size_t>(value));
  return std::to_string(value);
}

}  // namespace

std::string shown(feature_set const&, event_store const& store, feature_column const& column, std::size_t row) {
  std::string text;
  for (std::size_t lane = 0; lane < column.lanes; ++lane) text += (lane > 0 ? " " : "") + lane_text(store, column, row, lane);
  return text;
}

std::string value_of(feature_set_ptr const& set, raw_rows const& rows, std::int64_t entity, std::int64_t as_of, std::string_view feature,
                     std::string_view window) {
  auto const store = store_of(*set, rows);
  timestamp const at{duration{as_of}};
  feature_engine const engine{set};
  std::vector<feature_moment> const moments_wanted{feature_moment{store.find(entity), at, at}};
  auto const table = engine.at(store, moments_wanted);
  if (!table) return table.error().message;
  for (auto const& column : table->columns) {
    if (set->features[column.feature].name == feature && set->windows[column.window].name == window) return shown(*set, store, column, 0);
  }
  return "no such column";
}

std::vector<std::int64_t> bits_of(feature_table const& table) {
  std::vector<std::int64_t> bits;
  for (auto const& column : table.columns) {
    for (std::size_t at = 0; at < table.rows * column.lanes; ++at) {
      bits.push_back(column.cells[at]);
      if (column.states) bits.push_back(static_cast<std::int64_t>(column.states[at]));
    }
  }
  return bits;
}

}  // namespace atone::features_test
