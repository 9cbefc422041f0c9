// Scenarios from reports of systems like ours that concern timers, fan-outs and bindings of the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "definitions.hpp"
#include "machine_world.hpp"

namespace atone::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string fan_of(int branches) {
  std::string yaml = "saga: wide\nversion: 1\nservices: {a: {http: \"http://127.0.0.1:1\"}}\nsteps:\n  - id: fan\n" +
                     std::string{"    parallel: {join: all, on_failure: cancel_rest}\n    branches:\n"};
  for (int n = 0; n < branches; ++n) {
    auto const name = "b" + std::to_string(n);
    yaml += "      " + name + ":\n        - id: s\n          call: a POST /" + name + "\n          retry: {attempts: 1}\n" +
            "          compensate: {call: a DELETE /" + name + "}\n";
  }
  return yaml + "  - id: after\n    call: a POST /after\n    compensate: {call: a DELETE /after}\n";
}

// B-15: the join waits for every branch, once, also when the fork was interrupted in its middle.
TEST(machine, b15_the_join_waits_for_every_branch) {
  for (int const branches : {1, 100}) {
    for (std::uint32_t const crash : {1U, 2U, 50U}) {
      if (crash > static_cast<std::uint32_t>(branches)) continue;
      SCOPED_TRACE(std::to_string(branches) + " branches, crash after event " + std::to_string(crash));
      machine_world world{fan_of(branches)};
      world.without_checks();
      world.crash_after(crash);
      std::size_t done_before_after = 0;
      world.on_event = [&](machine_world& now, event const& what) {
        if (what.kind == event_kind::step_succeeded && now.called("after", operation::act) == 0) ++done_before_after;
      };
      world.run();
      EXPECT_EQ(world.status(), saga_status::completed);
      EXPECT_EQ(done_before_after + 1, static_cast<std::size_t>(branches));  // the last branch's own event sends `after`
      EXPECT_EQ(world.called("after", operation::act), 1U);
      for (int n = 0; n < branches; ++n) EXPECT_EQ(world.effect("fan/b" + std::to_string(n) + "/s"), 1);
    }
  }
}

// B-18: an answer just before, at, or just after the timeout: one decision, no noise.
TEST(machine, b18_timeout_and_answer_meet) {
  auto const yaml = R"(saga: meet
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: s
    call: a POST /s
    timeout: 1s
    compensate: {call: a DELETE /s}
)";
  event answer;
  answer.kind = event_kind::step_succeeded;
  answer.step = step_path{"s"};
  answer.op = operation::act;
  answer.n = attempt{1};
  answer.payload = "{}";

  machine_world before{yaml};  // the answer first: its timer is off, and a timer event that was on its way is refused
  before.on_event = [](machine_world& now, event const& what) {
    if (what.kind != event_kind::step_succeeded) return;
    event timer;
    timer.kind = event_kind::timer_fired;
    timer.timer = timer_kind::step_timeout;
    timer.step = step_path{"s"};
    timer.op = operation::act;
    ASSERT_TRUE(now.inject(timer).has_value());
  };
  before.run();
  EXPECT_EQ(before.status(), saga_status::completed);

  machine_world after{yaml};  // the timer first: the answer is late, recorded and not used
  after.script("s", operation::act, {reply::hang});
  after.on_event = [&](machine_world& now, event const& what) {
    if (what.kind != event_kind::timer_fired) return;
    auto const refused = now.inject(answer);
    ASSERT_TRUE(refused.has_value());
    EXPECT_EQ(refused->code, errc::conflict);
    auto late = answer;
    late.kind = event_kind::late_answer;
    EXPECT_FALSE(now.inject(late).has_value());
  };
  after.run();
  EXPECT_EQ(after.status(), saga_status::compensated);
  EXPECT_THAT(after.machine().cause(), HasSubstr("timed out"));
}

// B-61: whatever ends leaves no timer behind.
TEST(machine, b61_no_timer_outlives_its_saga) {
  machine_world world{sequence_of(2, "deadline: 30d\n")};
  world.run();
  EXPECT_EQ(world.status(), saga_status::completed);
  EXPECT_THAT(world.machine().outstanding(), IsEmpty());
  EXPECT_EQ(world.armed_timers(), 0U);
}

// B-47: the longest durations neither overflow nor fire early.
TEST(machine, b47_long_timeouts_do_not_fire_early) {
  for (auto const* text : {"24d", "25d", "50d", "3652d"}) {
    SCOPED_TRACE(text);
    machine_world world{sequence_of(1, std::string{"deadline: "} + text + "\n")};
    world.script("s1", operation::act, {reply::hang});
    std::optional<duration> left;
    world.on_event = [&](machine_world& now, event const& what) {
      if (what.kind != event_kind::started) return;
      for (auto const& one : now.machine().outstanding()) {
        if (auto const* timer = std::get_if<arm_timer_command>(&one)) left = timer->due - now.now();
      }
      now.on_event = nullptr;
    };
    world.run();
    EXPECT_EQ(left, *parse_duration(text));
  }
  EXPECT_FALSE(parse_duration("3654d").has_value());
  EXPECT_FALSE(parse_duration("99999999999999999999d").has_value());
}

}  // namespace
}  // namespace atone::test
