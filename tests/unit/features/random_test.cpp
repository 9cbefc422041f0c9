// The engine against the oracle, bit for bit, over random sets and events; the seed is printed first, and ATONE_FEATURE_SEED repeats one.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "oracle.hpp"
#include "random_sets.hpp"

namespace atone::features_test {
namespace {

using namespace features;

std::uint64_t seed() {
  auto const* given = std::getenv("ATONE_FEATURE_SEED");
  return given == nullptr ? std::random_device{}() : std::strtoull(given, nullptr, 10);
}

std::size_t rounds() {
  auto const* given = std::getenv("ATONE_FEATURE_ROUNDS");
  return given == nullptr ? 1200 : std::strtoull(given, nullptr, 10);
}

timestamp moment(std::int64_t microseconds) {
  return timestamp{duration{microseconds}};
}

// An entity of the store as the rows name it.
raw_value name_of(feature_set const& set, event_store const& store, std::size_t entity) {
  auto const code = store.entities.at(entity);
  if (set.columns[set.entity].type != column_type::text) return code;
  return store.columns[set.entity].words.at(static_cast<std::size_t>(code));
}

raw_value id_of(feature_set const& set, event_store const& store, std::size_t row) {
  auto const& ids = store.columns[set.event_id];
  if (set.columns[set.event_id].type != column_type::text) return ids.values.at(row);
  return ids.words.at(static_cast<std::size_t>(ids.values.at(row)));
}

std::string column_of(feature_set const& set, feature_table const& table, std::size_t cell) {
  for (auto const& column : table.columns) {
    if (cell < column.lanes) {
      return set.features[column.feature].name + " (" + std::string{name(set.features[column.feature].what)} + ") over " +
             set.windows[column.window].name;
    }
    cell -= column.lanes;
  }
  return "?";
}

void expect_equal(random_case const& drawn, event_store const& store, feature_table const& table, std::size_t row,
                  oracle_moment const& at) {
  auto const expected = oracle_row(*drawn.set, drawn.rows, at);
  auto const found = engine_row(store, table, row);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t cell = 0; cell < found.size(); ++cell) {
    ASSERT_EQ(found[cell].state, expected[cell].state) << column_of(*drawn.set, table, cell) << "\n" << drawn.yaml;
    ASSERT_EQ(found[cell].bits, expected[cell].bits) << column_of(*drawn.set, table, cell) << "\n" << drawn.yaml;
    ASSERT_EQ(found[cell].word, expected[cell].word) << column_of(*drawn.set, table, cell) << "\n" << drawn.yaml;
  }
}

// One moment for every entity of the store, then one for each of some entities.
void expect_as_of(random_case const& drawn, event_store const& store, std::mt19937_64& random) {
  feature_engine const engine{drawn.set};
  auto const at = draw_time(random);
  auto const known = draw_time(random) + (random() % 2 == 0 ? 20'000'000 : 0);
  auto const table = engine.as_of(store, moment(at), moment(known));
  ASSERT_TRUE(table) << table.error().message;
  for (std::size_t entity = 0; entity < store.entities.size(); ++entity) {
    oracle_moment here;
    here.entity = name_of(*drawn.set, store, entity);
    here.as_of = at;
    here.known_at = known;
    expect_equal(drawn, store, *table, entity, here);
  }
}

void expect_per_event(random_case const& drawn, event_store const& store) {
  auto const table = feature_engine{drawn.set}.per_event(store);
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->rows, store.rows());
  for (std::size_t entity = 0; entity < store.entities.size(); ++entity) {
    for (auto row = store.offsets[entity]; row < store.offsets[entity + 1]; ++row) {
      oracle_moment here;
      here.entity = name_of(*drawn.set, store, entity);
      here.as_of = store.times[row];
      here.known_at = store.known_from.empty() ? 0 : store.known_from[row];
      here.through = std::pair{store.times[row], id_of(*drawn.set, store, row)};
      expect_equal(drawn, store, *table, row, here);
    }
  }
}

TEST(random_features, equal_the_oracle_bit_for_bit) {
  auto const first = seed();
  std::cout << "seed " << first << std::endl;
  for (std::size_t round = 0; round < rounds(); ++round) {
    SCOPED_TRACE("ATONE_FEATURE_SEED=" + std::to_string(first) + ", round " + std::to_string(round));
    std::mt19937_64 random{first + round * 1'000'003};
    auto const drawn = draw_case(random, 12 + (round % 50 == 0 ? 150 : 0));
    ASSERT_TRUE(drawn.set);
    auto const store = sort_events(*drawn.set, table_of(*drawn.set, drawn.rows));
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_NO_FATAL_FAILURE(expect_as_of(drawn, *store, random));
    ASSERT_NO_FATAL_FAILURE(expect_as_of(drawn, *store, random));
    if (round % 4 == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_per_event(drawn, *store));
    }
  }
}

TEST(random_features, do_not_depend_on_the_order_of_rows) {
  auto const first = seed();
  std::cout << "seed " << first << std::endl;
  for (std::size_t round = 0; round < rounds() / 6; ++round) {
    SCOPED_TRACE("ATONE_FEATURE_SEED=" + std::to_string(first) + ", round " + std::to_string(round));
    std::mt19937_64 random{first + round * 1'000'003};
    auto drawn = draw_case(random, 40);
    feature_engine const engine{drawn.set};
    auto const expected_store = store_of(*drawn.set, drawn.rows);
    auto const expected = engine.as_of(expected_store, moment(8'000'000), moment(30'000'000));
    auto const expected_events = engine.per_event(expected_store);
    for (int order = 0; order < 3; ++order) {
      std::shuffle(drawn.rows.begin(), drawn.rows.end(), random);
      auto const store = store_of(*drawn.set, drawn.rows);
      EXPECT_EQ(store.left_out, expected_store.left_out);
      ASSERT_EQ(bits_of(*engine.as_of(store, moment(8'000'000), moment(30'000'000))), bits_of(*expected)) << drawn.yaml;
      ASSERT_EQ(bits_of(*engine.per_event(store)), bits_of(*expected_events)) << drawn.yaml;
    }
  }
}

}  // namespace
}  // namespace atone::features_test
