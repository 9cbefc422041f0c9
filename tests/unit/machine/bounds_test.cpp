// Nothing waits without a bound, nothing that a participant sends brings the machine down, and a person can always settle a step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "definitions.hpp"
#include "machine_world.hpp"

namespace atone::test {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

std::optional<step_view> step_of(machine_world const& world, std::string const& path) {
  for (auto const& view : world.machine().steps()) {
    if (view.path.text() == path) return view;
  }
  return std::nullopt;
}

std::string const uses_earlier = R"yaml(saga: uses
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: first
    call: a POST /first
    compensate: {call: a DELETE /first}
  - id: second
    call: a POST /second
    compensate: {call: a DELETE /second}
  - id: third
    call: a POST /third
    in: {known: "=has(steps.first.out) && has(steps.second.out)"
}
    compensate: {call: a DELETE /third}
)yaml";

// As deep as an answer may be: with the names around it the text of all outputs is deeper.
TEST(machine_bounds, the_deepest_answer_is_one_that_later_steps_can_use) {
  machine_world world{uses_earlier};
  world.answer("first", nested(1024));
  world.run();
  EXPECT_EQ(world.status(), saga_status::completed);
}

TEST(machine_bounds, answers_that_are_large_together_are_no_larger_trouble) {
  machine_world world{uses_earlier};
  world.answer("first", '"' + std::string(std::size_t{9} << 20U, 'x') + '"');
  world.answer("second", '"' + std::string(std::size_t{9} << 20U, 'y') + '"');
  world.without_checks();
  world.run();
  EXPECT_EQ(world.status(), saga_status::completed);
}

TEST(machine_bounds, the_deepest_input_can_be_passed_on_and_undone) {
  std::string const yaml = R"yaml(saga: deep
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: one
    call: a POST /one
    in: {a: =input}
    compensate: {call: a POST /one/undo, in: {a: =in.a}}
  - id: two
    call: a POST /two
    compensate: {call: a DELETE /two}
)yaml";
  machine_world world{yaml, nested(1024)};
  world.script("two", operation::act, {reply::reject});
  world.run();
  EXPECT_EQ(world.status(), saga_status::compensated);
  EXPECT_EQ(world.effect("one"), 0);
}

TEST(machine_bounds, a_fallback_that_answers_no_json_has_nothing_to_offer) {
  machine_world world{R"yaml(saga: other
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: one
    call: a POST /one
    read_only: true
    fallback: {on: [refused], use: {call: a GET /other}}
  - id: two
    call: a POST /two
    in: {x: =steps.one.out}
    compensate: {call: a DELETE /two}
)yaml"};
  world.script("one", operation::act, {reply::reject});
  world.answer("one fallback", "<html>");
  world.run();
  EXPECT_EQ(world.status(), saga_status::compensated);
  EXPECT_THAT(world.machine().cause(), HasSubstr("not JSON"));
}

std::string const optional_pivot = R"yaml(saga: maybe
version: 1
input: {type: object, properties: {pay: {type: boolean}}, required: [pay]}
services: {a: {http: "http://127.0.0.1:1"}}
defaults: {retry: {attempts: 2, delay: 1s, jitter: none}}
deadline: 30s
steps:
  - id: reserve
    call: a POST /reserve
    compensate: {call: a DELETE /reserve}
  - id: pay
    when: =input.pay
    call: a POST /pay
    pivot: true
  - id: ship
    call: a POST /ship
    retriable: true
  - id: tell
    call: a POST /tell
    retriable: true
)yaml";

// What follows a pivot has no way back, whether the pivot was sent or left out.
TEST(machine_bounds, a_pivot_that_is_skipped_is_passed_all_the_same) {
  machine_world world{optional_pivot, R"({"pay": false})"};
  world.script("tell", operation::act, {reply::err, reply::err, reply::err, reply::err, reply::err, reply::err, reply::ok});
  std::optional<error> refusal;
  world.on_event = [&](machine_world& now, event const& what) {
    if (what.kind != event_kind::attempt_failed || refusal) return;
    refusal = now.operator_action(event_kind::cancel_requested, {}, "too late");
  };
  world.run();
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->code, errc::conflict);
  EXPECT_EQ(world.status(), saga_status::completed);
  EXPECT_EQ(world.effect("ship"), 1);
  EXPECT_EQ(world.effect("tell"), 1);
}

// B-23: after the deadline a call that hangs has the time of one attempt, and is then undone as one that may have been done.
TEST(machine_bounds, b23_what_hangs_when_the_saga_fails_is_settled_within_one_attempt) {
  run_with_every_crash(
      R"yaml(saga: late
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
defaults: {attempt_timeout: 3s}
deadline: 30s
steps:
  - id: one
    call: a POST /one
    compensate: {call: a DELETE /one}
  - id: two
    call: a POST /two
    compensate: {call: a DELETE /two}
)yaml",
      "{}", [](machine_world& world) { world.script("two", operation::act, {reply::hang}); },
      [](machine_world& world) {
        EXPECT_EQ(world.status(), saga_status::compensated);
        EXPECT_THAT(world.compensation_order(), ::testing::ElementsAre("two", "one"));
        EXPECT_EQ(world.now() - world.journal().front().at, std::chrono::seconds{33});
      });
}

TEST(machine_bounds, a_compensation_that_hangs_is_told_of_then_parked) {
  machine_world world{sequence_of(2)};
  world.script("s2", operation::act, {reply::reject});
  world.script("s1", operation::compensate, {reply::hang});
  world.run();
  EXPECT_EQ(world.status(), saga_status::parked);
  EXPECT_THAT(world.alerts(), Contains(Field(&alert_command::kind, "slow")));
  EXPECT_THAT(world.alerts(), Contains(Field(&alert_command::kind, "parked")));
  EXPECT_THAT(step_of(world, "s1")->last_error, HasSubstr("is not done after 1d"));
  world.script("s1", operation::compensate, {reply::ok});
  EXPECT_EQ(world.operator_action(event_kind::operator_retry, "s1"), std::nullopt);
  world.go_on();
  EXPECT_EQ(world.status(), saga_status::compensated);
  EXPECT_EQ(world.armed_timers(), 0U);
}

TEST(machine_bounds, a_retriable_step_that_hangs_is_told_of) {
  machine_world world{optional_pivot, R"({"pay": true})"};
  world.script("ship", operation::act, {reply::hang});
  world.run();
  EXPECT_EQ(world.status(), saga_status::running);
  ASSERT_EQ(world.alerts().size(), 1U);
  EXPECT_EQ(world.alerts()[0].kind, "slow");
  EXPECT_EQ(world.alerts()[0].step.text(), "ship");
}

TEST(machine_bounds, a_last_output_whose_key_is_too_long_is_not_kept) {
  machine_world world{R"yaml(saga: keyed
version: 1
input: {type: object, properties: {key: {type: string}}, required: [key]}
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: one
    call: a POST /one
    read_only: true
    fallback: {on: [timeout, unavailable], use: last_output, key: =input.key, max_age: 1h}
)yaml",
                      R"({"key": ")" + std::string(1100, 'k') + R"("})"};
  world.run();
  EXPECT_EQ(world.status(), saga_status::completed);
  EXPECT_THAT(world.recorded(), IsEmpty());
  EXPECT_THAT(world.alerts(), Contains(Field(&alert_command::kind, "last output")));
}

// A saga parked at work on s2, by the runtime that took it over.
void park_at_work(machine_world& world) {
  world.crash_after(3);
  world.on_event = [](machine_world& now, event const& what) {
    if (what.kind != event_kind::step_succeeded) return;
    now.on_event = nullptr;
    EXPECT_EQ(now.operator_action(event_kind::parked, {}, "driven at three crashes"), std::nullopt);
  };
  world.run();
  EXPECT_EQ(world.status(), saga_status::parked);
  EXPECT_THAT(world.machine().parked_steps(), ::testing::ElementsAre(step_path{"s2"}));
}

TEST(machine_bounds, a_step_at_work_when_the_runtime_parked_can_be_completed) {
  machine_world world{sequence_of(3)};
  park_at_work(world);
  EXPECT_EQ(world.operator_action(event_kind::operator_complete, "s2", "done by hand", "{}"), std::nullopt);
  world.go_on();
  EXPECT_EQ(world.status(), saga_status::completed);
  EXPECT_EQ(world.called("s2", operation::act), 1U);
  EXPECT_EQ(world.effect("s3"), 1);
}

TEST(machine_bounds, a_step_at_work_when_the_runtime_parked_can_be_skipped) {
  machine_world world{sequence_of(3)};
  park_at_work(world);
  EXPECT_EQ(world.operator_action(event_kind::operator_skip, "s2"), std::nullopt);
  world.go_on();
  EXPECT_EQ(world.status(), saga_status::completed);
  EXPECT_EQ(step_of(world, "s2")->phase, run_phase::skipped);
}

TEST(machine_bounds, a_saga_that_the_runtime_parked_can_be_cancelled) {
  machine_world world{sequence_of(3)};
  park_at_work(world);
  EXPECT_EQ(world.operator_action(event_kind::cancel_requested), std::nullopt);
  world.go_on();
  EXPECT_EQ(world.status(), saga_status::compensated);
  EXPECT_THAT(world.compensation_order(), ::testing::ElementsAre("s2", "s1"));
}

TEST(machine_bounds, delays_grow_by_their_factor_up_to_a_small_cap) {
  machine_world world{R"yaml(saga: small
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: one
    call: a POST /one
    retry: {attempts: 3, delay: 1ms, factor: 2, cap: 3ms, jitter: none}
    compensate: {call: a DELETE /one}
)yaml"};
  world.script("one", operation::act, {reply::not_done, reply::not_done, reply::ok});
  world.run();
  EXPECT_EQ(world.status(), saga_status::completed);
  EXPECT_EQ(world.now() - world.journal().front().at, std::chrono::milliseconds{3});  // 1 + 2, not 1 + 3
}

}  // namespace
}  // namespace atone::test
