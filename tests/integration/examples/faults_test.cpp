// Faults on purpose: the grammar, the rates, and that the same request always meets the same fault.
#include <array>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kit/faults.hpp"

namespace kit {
namespace {

using atone::operation;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::string const all = "fail=0.02,hang=0.02:1500ms,drop=0.02,late=0.02:800ms,twice=0.02,refuse=0.03";

fault_plan plan_of(std::string_view text, std::uint64_t seed = 42) {
  auto plan = parse_faults(text);
  EXPECT_TRUE(plan.has_value()) << plan.error().message;
  plan->seed = seed;
  return *plan;
}

TEST(faults_text, every_kind_is_read) {
  auto const plan = plan_of(all);
  EXPECT_EQ(plan.entries[static_cast<std::size_t>(fault_kind::fail)].rate, 20'000U);
  EXPECT_EQ(plan.entries[static_cast<std::size_t>(fault_kind::hang)].delay, 1500ms);
  EXPECT_EQ(plan.entries[static_cast<std::size_t>(fault_kind::late)].delay, 800ms);
  EXPECT_EQ(plan.entries[static_cast<std::size_t>(fault_kind::refuse)].rate, 30'000U);
}

TEST(faults_text, empty_means_none) {
  EXPECT_TRUE(plan_of("").empty());
  EXPECT_EQ(draw(plan_of(""), request_identity{"s", "a", operation::act, "1"}), fault{});
}

TEST(faults_text, rates_are_exact) {
  EXPECT_EQ(plan_of("fail=1").entries[1].rate, fault_plan::whole);
  EXPECT_EQ(plan_of("fail=.000001").entries[1].rate, 1U);
  EXPECT_EQ(plan_of("fail=0.1,drop=0.9").entries[3].rate, 900'000U);
}

class faults_refused : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(faults_refused, with_what_was_found) {
  auto const plan = parse_faults(GetParam().first);
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code, atone::errc::invalid_argument);
  EXPECT_THAT(plan.error().message, HasSubstr(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(all, faults_refused,
                         testing::Values(std::pair{"fial=0.1", "found 'fial=0.1'"}, std::pair{"none=0.1", "none=0.1"},
                                         std::pair{"fail", "fail"}, std::pair{"fail=", "a rate between 0 and 1"},
                                         std::pair{"fail=2", "a rate between"}, std::pair{"fail=1.1", "a rate between"},
                                         std::pair{"fail=-0.1", "a rate between"}, std::pair{"fail=1e-2", "a rate between"},
                                         std::pair{"fail=0.0000001", "six decimals"}, std::pair{"hang=0.1", "a duration after the rate"},
                                         std::pair{"fail=0.1:1s", "no duration"}, std::pair{"late=0.1:1h", "at most 1m"},
                                         std::pair{"late=0.1:soon", "late=0.1:soon"}, std::pair{"fail=0.1,fail=0.1", "each kind once"},
                                         std::pair{"fail=0.6,drop=0.6", "more than 1"}, std::pair{"fail=0.1,", "after the comma"}));

TEST(faults_draw, the_same_request_meets_the_same_fault) {
  auto const plan = plan_of(all);
  for (int number = 0; number < 200; ++number) {
    auto const saga = std::to_string(number);
    request_identity const request{saga, "order", operation::act, "1"};
    EXPECT_EQ(draw(plan, request), draw(plan, request));
  }
}

std::array<int, fault_kinds> draw_many(fault_plan const& plan, operation op, int times) {
  std::array<int, fault_kinds> counts{};
  for (int number = 0; number < times; ++number) {
    auto const saga = std::to_string(number);
    ++counts[static_cast<std::size_t>(draw(plan, request_identity{saga, "order", op, "1"}).kind)];
  }
  return counts;
}

TEST(faults_draw, the_rates_are_kept) {
  auto const counts = draw_many(plan_of(all), operation::act, 20'000);
  for (std::size_t kind = 1; kind < fault_kinds; ++kind) {
    auto const expected = kind == static_cast<std::size_t>(fault_kind::refuse) ? 600 : 400;
    EXPECT_NEAR(counts[kind], expected, 100) << name(static_cast<fault_kind>(kind));
  }
}

TEST(faults_draw, a_compensation_is_never_refused) {
  EXPECT_EQ(draw_many(plan_of("refuse=1"), operation::compensate, 100)[0], 100);
  EXPECT_EQ(draw_many(plan_of("refuse=1"), operation::act, 100)[static_cast<std::size_t>(fault_kind::refuse)], 100);
}

TEST(faults_draw, each_part_of_the_request_counts) {
  auto const plan = plan_of("fail=0.5");
  std::array<int, 5> changed{};
  for (int number = 0; number < 200; ++number) {
    auto const saga = std::to_string(number);
    auto const base = draw(plan, request_identity{saga, "order", operation::act, "1"});
    changed[0] += draw(plan, request_identity{saga + "x", "order", operation::act, "1"}) != base;
    changed[1] += draw(plan, request_identity{saga, "tag", operation::act, "1"}) != base;
    changed[2] += draw(plan, request_identity{saga, "order", operation::compensate, "1"}) != base;
    changed[3] += draw(plan, request_identity{saga, "order", operation::act, "2"}) != base;
    changed[4] += draw(plan_of("fail=0.5", 43), request_identity{saga, "order", operation::act, "1"}) != base;
  }
  for (int const each : changed) EXPECT_NEAR(each, 100, 40);
}

TEST(faults_draw, the_draw_is_pinned) {
  // Golden: a change of the draw makes old runs unrepeatable.
  auto const plan = plan_of("fail=0.5,drop=0.5", 7);
  std::string drawn;
  for (int number = 0; number < 12; ++number) {
    auto const saga = std::to_string(number);
    drawn += draw(plan, request_identity{saga, "order", operation::act, "1"}).kind == fault_kind::fail ? 'f' : 'd';
  }
  EXPECT_EQ(drawn, "dffdffffddff");
}

}  // namespace
}  // namespace kit
