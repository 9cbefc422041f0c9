// The compact tables behind engine_rest: against the standard's containers, with drawn operations.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "runtime/rest_table.hpp"

namespace atone::test {
namespace {

using runtime::bed;
using runtime::rest_table;
using runtime::wake_queue;

saga_id id_of(std::uint64_t number) {
  saga_id::bytes bytes{};
  for (std::size_t at = 0; at < 8; ++at) bytes[15 - at] = static_cast<std::uint8_t>(number >> (8 * at));
  bytes[0] = 1;  // never the empty one
  return saga_id{bytes};
}

bed bed_of(std::uint64_t number, std::uint64_t life) {
  bed made;
  made.id = id_of(number);
  made.life = life;
  return made;
}

TEST(rest_table, holds_what_a_map_would) {
  std::mt19937_64 draw{7};
  rest_table table;
  std::map<saga_id, std::uint64_t> expected;
  for (std::uint64_t turn = 1; turn <= 400'000; ++turn) {
    auto const number = draw() % 20'000;
    bool const fill = turn / 100'000 % 2 == 0;  // it grows, shrinks, and again
    if (draw() % 10 < (fill ? 7U : 3U)) {
      table.put(bed_of(number, turn));
      expected[id_of(number)] = turn;
    } else {
      table.erase(id_of(number));
      expected.erase(id_of(number));
    }
    auto const asked = draw() % 20'000;
    auto const at = expected.find(id_of(asked));
    auto const* const found = table.find(id_of(asked));
    ASSERT_EQ(found != nullptr, at != expected.end());
    if (found != nullptr) {
      ASSERT_EQ(found->life, at->second);
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  std::map<saga_id, std::uint64_t> seen;
  table.each([&](bed const& one) { EXPECT_TRUE(seen.emplace(one.id, one.life).second); });
  EXPECT_EQ(seen, expected);
  for (auto const& [id, life] : expected) table.erase(id);
  EXPECT_EQ(table.size(), 0U);
  table.each([](bed const&) { ADD_FAILURE() << "nobody is left"; });
}

TEST(wake_queue, gives_the_soonest_first) {
  std::mt19937_64 draw{7};
  wake_queue queue;
  std::multiset<timestamp> expected;
  for (std::uint64_t turn = 0; turn < 20'000; ++turn) {
    if (draw() % 3 != 0) {
      timestamp const at{std::chrono::microseconds{draw() % 1000}};
      queue.push(at, id_of(turn));
      expected.insert(at);
    } else if (!queue.empty()) {
      ASSERT_EQ(queue.front().at, *expected.begin());
      expected.erase(expected.begin());
      queue.pop();
    }
    ASSERT_EQ(queue.empty(), expected.empty());
  }
}

TEST(wake_queue, entries_that_are_no_longer_so_do_not_pile_up) {
  wake_queue queue;
  std::uint64_t looks = 0;
  for (std::uint64_t turn = 0; turn < 100'000; ++turn) {
    queue.push(timestamp{std::chrono::microseconds{turn}}, id_of(turn % 10));
    queue.tidy(10, [&](wake_queue::entry const& one) {
      ++looks;
      return one.at.time_since_epoch().count() + 10 > static_cast<std::int64_t>(turn);
    });
  }
  std::size_t left = 0;
  for (; !queue.empty(); queue.pop()) ++left;
  EXPECT_LT(left, 1100U);
  EXPECT_LT(looks, 110'000U) << "each is looked at about once";
}

}  // namespace
}  // namespace atone::test
