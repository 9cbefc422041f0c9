// Events that came in any pieces, in any order, give the features of all of them sorted at once.
#include "service/event_memory.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace atone::features_test {
namespace {

using testing::HasSubstr;

// Rows of a few users, one of them large; times meet, ids come again with corrections and duplicates.
raw_rows drawn(std::mt19937_64& random, bool known) {
  raw_rows rows;
  for (std::int64_t id = 0; id < 400; ++id) {
    auto const user = static_cast<std::int64_t>(random() % 4 == 0 ? random() % 9 : 3);
    auto const time = static_cast<std::int64_t>(random() % 30) * second;
    raw_row row{user, "id" + std::to_string(id), time, static_cast<std::int64_t>(random() % 500),
                std::string(1, static_cast<char>('a' + random() % 5))};
    if (random() % 9 == 0) row[3] = raw_value{};
    if (random() % 9 == 0) row[4] = raw_value{};
    if (known) row.push_back(random() % 5 == 0 ? raw_value{} : raw_value{time + static_cast<std::int64_t>(random() % 3) * second});
    rows.push_back(row);
    if (random() % 5 == 0) rows.push_back(row);
    for (auto later = time + 5 * second; known && random() % 3 == 0; later += second) {
      auto correction = row;
      if (random() % 2 == 0) correction[3] = static_cast<std::int64_t>(random() % 500);
      if (random() % 4 == 0) correction[2] = static_cast<std::int64_t>(random() % 30) * second;
      correction[5] = later;
      rows.push_back(correction);
    }
  }
  return rows;
}

std::vector<std::int64_t> bits_now(feature_engine const& engine, event_store const& store, std::int64_t time, std::int64_t known) {
  return bits_of(*engine.as_of(store, at(time), at(known)));
}

class memory : public testing::TestWithParam<bool> {};

TEST_P(memory, gives_the_features_of_all_rows_sorted_at_once_however_they_came) {
  auto const set = shop_set(GetParam());
  feature_engine const engine{set};
  std::mt19937_64 random{GetParam() ? 17U : 18U};
  for (int round = 0; round < 40; ++round) {
    auto rows = drawn(random, GetParam());
    auto const expected = sort_events(*set, table_of(*set, rows));
    ASSERT_TRUE(expected) << expected.error().message;
    std::shuffle(rows.begin(), rows.end(), random);
    event_memory kept{set};
    event_memory replayed{set};
    std::size_t taken = 0;
    for (std::size_t begin = 0; begin < rows.size();) {
      auto const end = std::min(rows.size(), begin + 1 + random() % 60);
      raw_rows const delta{rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.begin() + static_cast<std::ptrdiff_t>(end)};
      auto const checked = kept.check(table_of(*set, delta));
      ASSERT_TRUE(checked) << checked.error().message;
      taken += kept.take(*checked, [&](entity_number, std::string const& bytes) {
        byte_reader from{bytes};
        ASSERT_TRUE(replayed.read(from));
        EXPECT_TRUE(from.at_end());
      });
      begin = end;
    }
    EXPECT_EQ(taken, kept.rows());
    std::vector<entity_number> all;
    for (entity_number one = 0; one < 9; ++one) all.push_back(one);
    std::vector<std::optional<std::uint32_t>> places;
    for (auto const* one : {&kept, &replayed}) {
      auto const store = one->gather(all, places);
      ASSERT_TRUE(store) << store.error().message;
      ASSERT_EQ(store->entities, expected->entities);
      for (auto const known : {8, 20, 60}) {
        EXPECT_EQ(bits_now(engine, *store, 25 * second, known * second), bits_now(engine, *expected, 25 * second, known * second)) << round;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(sets, memory, testing::Values(false, true));

TEST(memory_of_events, refuses_another_content_among_few_and_among_many_rows) {
  auto const set = shop_set();
  for (std::int64_t const count : {3, 500}) {
    event_memory kept{set};
    raw_rows rows;
    for (std::int64_t id = 0; id < count; ++id)
      rows.push_back({7, "id" + std::to_string(id), (id * 7 % 50) * second, 100, std::string{"tea"}});
    auto const checked = kept.check(table_of(*set, rows));
    ASSERT_TRUE(checked);
    kept.take(*checked, [](entity_number, std::string const&) {});
    EXPECT_TRUE(kept.check(table_of(*set, {rows[1]})));
    for (std::size_t const cell : {2U, 3U, 4U}) {
      auto other = rows[1];
      other[cell] = cell == 4 ? raw_value{std::string{"milk"}} : raw_value{std::int64_t{123}};
      EXPECT_THAT(kept.check(table_of(*set, {other})).error().message, HasSubstr("event 'id1' came with two contents"));
    }
  }
}

TEST(memory_of_events, entities_that_are_texts_stand_in_their_order) {
  auto const set = set_of(
      "feature_set: s\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\ncolumns: {user: text, id: integer, at: timestamp}\n"
      "windows: {ever: {since: epoch}}\nfeatures: {n: {count: events, over: [ever]}}\n");
  event_memory kept{set};
  auto const checked = kept.check(table_of(*set, {{std::string{"zoe"}, 1, 1}, {std::string{"adam"}, 2, 1}, {std::string{"zoe"}, 3, 1}}));
  ASSERT_TRUE(checked);
  kept.take(*checked, [](entity_number, std::string const&) {});
  std::vector<entity_number> const wanted{*kept.find("zoe"), *kept.number_of("nobody"), *kept.find("adam")};
  std::vector<std::optional<std::uint32_t>> places;
  auto const store = kept.gather(wanted, places);
  ASSERT_TRUE(store);
  EXPECT_THAT(places, testing::ElementsAre(std::optional<std::uint32_t>{1}, std::nullopt, std::optional<std::uint32_t>{0}));
  EXPECT_EQ(store->find("zoe", *set), std::optional<std::uint32_t>{1});
  EXPECT_EQ(kept.rows_of(*kept.find("zoe")), 2U);
}

}  // namespace
}  // namespace atone::features_test
