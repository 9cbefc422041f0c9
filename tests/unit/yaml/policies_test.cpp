// Timeouts and retries: built-in values, then `defaults`, then the step's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string const step = "  - id: pay\n    call: shop pay\n    compensate: {call: shop refund}\n";

loaded with_defaults(std::string const& defaults, std::string const& steps = step) {
  return load_definition(saga_with(steps, "defaults: " + defaults + "\n"));
}

TEST(policies, built_in_values) {
  auto const done = load_definition(saga_with(step));
  ASSERT_TRUE(done.ok()) << told(done);
  auto const& pay = first_action(done);
  EXPECT_EQ(pay.attempt_timeout, 3s);
  EXPECT_FALSE(pay.timeout);
  EXPECT_FALSE(pay.retry.attempts);
  EXPECT_EQ(pay.retry.delay, 200ms);
  EXPECT_EQ(pay.retry.factor_milli, 2000U);
  EXPECT_EQ(pay.retry.cap, 30s);
  EXPECT_EQ(pay.retry.jitter, retry_policy::jitter_kind::full);
  ASSERT_TRUE(pay.compensate);
  EXPECT_EQ(pay.compensate->attempt_timeout, 3s);
  EXPECT_EQ(pay.compensate->limit, 24h);
  EXPECT_FALSE(pay.compensate->retry.attempts);
}

TEST(policies, defaults_reach_steps_and_compensations) {
  auto const done = with_defaults(
      "{attempt_timeout: 1s, timeout: 20s, retry: {attempts: 5, cap: 10s}, compensate: {attempts: 20, delay: 1s, cap: 5m, limit: 2h}}");
  ASSERT_TRUE(done.ok()) << told(done);
  auto const& pay = first_action(done);
  EXPECT_EQ(pay.attempt_timeout, 1s);
  EXPECT_EQ(pay.timeout, 20s);
  EXPECT_EQ(pay.retry.attempts, 5U);
  EXPECT_EQ(pay.retry.cap, 10s);
  EXPECT_EQ(pay.retry.delay, 200ms);
  EXPECT_EQ(pay.compensate->attempt_timeout, 1s);
  EXPECT_EQ(pay.compensate->retry.attempts, 20U);
  EXPECT_EQ(pay.compensate->retry.delay, 1s);
  EXPECT_EQ(pay.compensate->limit, 2h);
}

TEST(policies, a_step_changes_single_keys_of_the_defaults) {
  auto const done = with_defaults("{retry: {attempts: 5, delay: 1s}}",
                                  "  - id: pay\n    call: shop pay\n    retry: {delay: 2s, factor: 1.5, jitter: none}\n"
                                  "    compensate: {call: shop refund, attempts: 3, attempt_timeout: 9s, jitter: equal}\n");
  ASSERT_TRUE(done.ok()) << told(done);
  auto const& pay = first_action(done);
  EXPECT_EQ(pay.retry.attempts, 5U);
  EXPECT_EQ(pay.retry.delay, 2s);
  EXPECT_EQ(pay.retry.factor_milli, 1500U);
  EXPECT_EQ(pay.retry.jitter, retry_policy::jitter_kind::none);
  EXPECT_EQ(pay.compensate->retry.attempts, 3U);
  EXPECT_EQ(pay.compensate->attempt_timeout, 9s);
  EXPECT_EQ(pay.compensate->retry.jitter, retry_policy::jitter_kind::equal);
}

TEST(policies, an_inherited_attempt_timeout_gives_way_to_a_short_step) {
  auto const done = load_definition(saga_of_step("    call: shop pay\n    timeout: 1s\n"));
  EXPECT_EQ(first_action(done).attempt_timeout, 1s);
  auto const longer = with_defaults("{timeout: 2s}", "  - {id: a, call: shop pay, attempt_timeout: 5s, read_only: true}\n");
  ASSERT_TRUE(longer.ok()) << told(longer);
  EXPECT_EQ(first_action(longer).timeout, 5s);
}

TEST(policies, a_contradiction_in_one_step_is_a_mistake) {
  EXPECT_THAT(told(load_definition(saga_of_step("    call: shop pay\n    timeout: 1s\n    attempt_timeout: 2s\n"))),
              HasSubstr("longer than the whole step's timeout of 1s"));
  EXPECT_THAT(told(load_definition(saga_of_step("    call: shop pay\n    retry: {delay: 10s, cap: 5s}\n"))),
              HasSubstr("delay of 10s is longer than its cap of 5s"));
  EXPECT_THAT(told(load_definition(saga_of_step("    call: shop pay\n    retry: {cap: 100ms}\n"))), HasSubstr("retry.cap"));
}

TEST(policies, long_durations_do_not_wrap) {
  for (auto const* days : {"24d", "25d", "50d", "3650d"}) {
    auto const done = load_definition(saga_of_step(std::string{"    call: shop pay\n    timeout: "} + days + "\n"));
    ASSERT_TRUE(done.ok()) << told(done);
    EXPECT_EQ(format_duration(*first_action(done).timeout), days);
  }
}

TEST(policies, steps_without_any_limit_are_warned_of_when_the_deadline_is_not_chosen) {
  auto text = saga_with(step);
  text.erase(text.find("deadline: 1m\n"), 13);
  auto const done = load_definition(text);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done.definition->deadline, 24h);
  EXPECT_THAT(told(done), HasSubstr("warning: step `pay` is retried without a limit of its own"));
  EXPECT_EQ(told(load_definition(saga_with(step))), "");
  auto const limited = text + "defaults: {timeout: 1m}\n";
  EXPECT_EQ(told(load_definition(limited)), "");
}

TEST(policies, limits_of_a_retriable_step_are_warned_of) {
  auto const done =
      load_definition(saga_with("  - {id: a, call: shop a, pivot: true, compensate: {call: shop b}}\n"
                                "  - {id: b, call: shop b, retriable: true, timeout: 5s, retry: {attempts: 3}}\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  EXPECT_THAT(told(done), HasSubstr("`timeout` has no effect"));
  EXPECT_THAT(told(done), HasSubstr("`attempts` has no effect"));
}

}  // namespace
}  // namespace atone::yaml_test
