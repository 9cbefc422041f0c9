// The usual rate, the moment from which on it is there again, and the longest time without any saga.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "drill/recovery.hpp"
#include "drill/run.hpp"

namespace atone::drill {
namespace {

using namespace std::chrono_literals;
using moments = std::vector<duration>;

wanted_rate in_a_second(std::uint64_t ends) {
  wanted_rate made;
  made.ends = ends;
  made.within = 1s;
  return made;
}

// One every `step`, from `from` until before `until`.
void go_on(moments& ends, duration from, duration until, duration step) {
  for (auto at = from; at < until; at += step) ends.push_back(at);
}

TEST(drill_recovery, a_share_of_the_usual_rate_is_whole_sagas) {
  usual_rate usual;
  EXPECT_EQ(usual.share(80).ends, 0U);
  usual.add(10s, 1000);
  EXPECT_DOUBLE_EQ(usual.per_second(), 100.0);
  EXPECT_EQ(usual.share(80).ends, 80U);
  EXPECT_EQ(usual.share(80).within, 1s);
  usual.add(10s, 1019);
  EXPECT_EQ(usual.share(50).ends, 50U);
}

TEST(drill_recovery, where_few_end_a_longer_time_is_looked_at) {
  usual_rate rare;
  rare.add(10s, 20);
  EXPECT_EQ(rare.share(80).within, 5s);
  EXPECT_EQ(rare.share(80).ends, 8U);
  usual_rate one;
  one.add(10s, 1);
  EXPECT_EQ(one.share(1).ends, 1U);
}

TEST(drill_recovery, is_there_at_once_where_nothing_was_disturbed) {
  moments ends;
  go_on(ends, 0ms, 10s, 100ms);
  EXPECT_EQ(recovered_at(ends, 2s, in_a_second(8), 2s), 2s);
}

TEST(drill_recovery, is_when_the_rate_is_back) {
  moments ends;
  go_on(ends, 0ms, 2s, 100ms);
  go_on(ends, 3500ms, 10s, 100ms);
  // From 2.7 s on a second has two, and so on: the one that begins at 3.3 s has the eighth at 4.2 s.
  auto const at = recovered_at(ends, 2s, in_a_second(8), 2s);
  ASSERT_TRUE(at);
  EXPECT_EQ(*at, 3200ms) << "the eighth of them ends at 4.2 s";
}

TEST(drill_recovery, is_not_the_first_good_second) {
  moments ends;
  go_on(ends, 3s, 4s, 100ms);  // back, but gone again
  go_on(ends, 6s, 10s, 100ms);
  auto const at = recovered_at(ends, 2s, in_a_second(8), 2s);
  ASSERT_TRUE(at);
  EXPECT_EQ(*at, 5700ms);
  EXPECT_EQ(recovered_at(ends, 2s, in_a_second(8), 1s), 2700ms) << "for one second it was back before";
}

TEST(drill_recovery, is_not_told_before_it_has_stayed) {
  moments ends;
  go_on(ends, 2100ms, 3800ms, 100ms);
  EXPECT_EQ(recovered_at(ends, 2s, in_a_second(8), 2s), std::nullopt);
  go_on(ends, 3800ms, 4500ms, 100ms);
  EXPECT_EQ(recovered_at(ends, 2s, in_a_second(8), 2s), 2s);
  EXPECT_EQ(recovered_at({}, 0ms, in_a_second(1), 2s), std::nullopt);
}

// Answers of one batch end at one moment.
TEST(drill_recovery, knows_sagas_that_end_together) {
  moments ends;
  for (auto at = 2500ms; at < 8s; at += 500ms) ends.insert(ends.end(), 5, at);
  EXPECT_EQ(recovered_at(ends, 2s, in_a_second(10), 2s), 2s);
  EXPECT_EQ(recovered_at(ends, 2s, in_a_second(11), 2s), std::nullopt);
}

// Against the definition itself, tried at each millisecond.
TEST(drill_recovery, is_what_its_definition_says) {
  std::mt19937_64 dice{2026};
  for (int round = 0; round < 300; ++round) {
    moments ends;
    for (duration at = 0ms; at < 3s; at += std::chrono::milliseconds{1 + dice() % (dice() % 5 == 0 ? 300 : 40)}) ends.push_back(at);
    auto const wanted = in_a_second(1 + dice() % 30);
    auto const holds = [&](duration begin) {
      auto const first = std::upper_bound(ends.begin(), ends.end(), begin);
      return std::upper_bound(first, ends.end(), begin + 1s) - first >= static_cast<std::ptrdiff_t>(wanted.ends);
    };
    auto const found = recovered_at(ends, 100ms, wanted, 1300ms);
    std::optional<duration> expected;
    for (duration begin = 100ms; begin < 1500ms && !expected; begin += 1ms) {
      bool all = true;
      for (auto at = begin; at <= begin + 300ms && all; at += 1ms) all = holds(at);
      if (all) expected = begin;
    }
    if (expected) {
      EXPECT_EQ(found, expected) << "round " << round;
    } else if (found) {
      EXPECT_GE(*found, 1500ms) << "round " << round;
    }
  }
}

TEST(drill_recovery, the_longest_gap_has_both_its_ends_counted) {
  moments const ends{1s, 2s, 2500ms, 4s};
  EXPECT_EQ(longest_gap(ends, 2s, 4s), 1500ms);
  EXPECT_EQ(longest_gap(ends, 2200ms, 2600ms), 300ms);
  EXPECT_EQ(longest_gap(ends, 4s, 9s), 5s);
  EXPECT_EQ(longest_gap({}, 1s, 3s), 2s);
}

drill_plan plan_of(std::vector<std::uint32_t> const& weights) {
  drill_plan made;
  for (auto const weight : weights) {
    made.faults.emplace_back();
    made.faults.back().weight = weight;
  }
  return made;
}

TEST(drill_order, goes_through_the_list_again_and_again) {
  auto const plan = plan_of({9, 1, 1});
  fault_order order{plan, 1};
  for (std::size_t n = 0; n < 7; ++n) EXPECT_EQ(order.next(), n % 3);
}

TEST(drill_order, draws_only_when_each_has_had_its_turn) {
  auto plan = plan_of({1000, 1, 1});
  plan.drawn = true;
  fault_order order{plan, 1};
  for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(order.next(), n);
}

TEST(drill_order, draws_by_weight_and_repeats_a_seed) {
  auto plan = plan_of({70, 20, 10});
  plan.drawn = true;
  fault_order order{plan, 42};
  fault_order again{plan, 42};
  for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(order.next(), again.next());
  std::vector<int> counts(3);
  for (int n = 0; n < 10'000; ++n) {
    auto const which = order.next();
    EXPECT_EQ(again.next(), which);
    ++counts.at(which);
  }
  EXPECT_NEAR(counts[0], 7000, 300);
  EXPECT_NEAR(counts[1], 2000, 300);
  EXPECT_NEAR(counts[2], 1000, 300);
}

}  // namespace
}  // namespace atone::drill
