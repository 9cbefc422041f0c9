// The usual rate, and the moment at which sagas go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drill/recovery.hpp"
#include "drill/run.hpp"

namespace atone::drill {
namespace {

using namespace std::chrono_literals;
using moments = std::vector<duration>;

TEST(drill_recovery, half_the_usual_rate_is_rounded_up) {
  usual_rate usual;
  EXPECT_EQ(usual.half(), 0U);
  usual.add(10s, 50);
  EXPECT_DOUBLE_EQ(usual.per_second(), 5.0);
  EXPECT_EQ(usual.half(), 3U);
  usual.add(10s, 150);
  EXPECT_EQ(usual.half(), 5U);
}

TEST(drill_recovery, counts_only_what_ended_after_the_fault) {
  moments const ends{100ms, 200ms, 300ms, 1000ms, 1100ms, 1200ms};
  EXPECT_EQ(recovered_at(ends, 0ms, 3), 300ms);
  EXPECT_EQ(recovered_at(ends, 300ms, 3), 1200ms);  // the one at the fault's end was before it
  EXPECT_EQ(recovered_at(ends, 1000ms, 3), std::nullopt);
  EXPECT_EQ(recovered_at({}, 0ms, 1), std::nullopt);
}

TEST(drill_recovery, wants_them_within_one_second) {
  moments const slow{0ms, 600ms, 1200ms, 1800ms, 2400ms};
  EXPECT_EQ(recovered_at(slow, -1ms, 2), 600ms);
  EXPECT_EQ(recovered_at(slow, -1ms, 3), std::nullopt);
  moments const gathers{0ms, 900ms, 1900ms, 2000ms, 2100ms};
  EXPECT_EQ(recovered_at(gathers, -1ms, 3), 2100ms);
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
