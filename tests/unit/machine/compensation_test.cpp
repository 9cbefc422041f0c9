// Undo: its order, its completeness, its failures. Group 2 of the reports of systems like ours, as far as the pure machine decides it.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "definitions.hpp"
#include "machine_world.hpp"

namespace atone::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

void nothing(machine_world&) {}

TEST(machine, all_done_completes) {
  run_with_every_crash(sequence_of(3), "{}", nothing, [](machine_world& world) {
    EXPECT_EQ(world.status(), saga_status::completed);
    for (auto const* step : {"s1", "s2", "s3"}) EXPECT_EQ(world.effect(step), 1);
    EXPECT_THAT(world.compensation_order(), IsEmpty());
  });
}

// B-08: strict reverse; the failed step itself only when its outcome is unknown.
TEST(machine, b08_reverse_order_without_the_refused_step) {
  run_with_every_crash(
      sequence_of(5), "{}", [](machine_world& world) { world.script("s5", operation::act, {reply::reject}); },
      [](machine_world& world) {
        EXPECT_EQ(world.status(), saga_status::compensated);
        EXPECT_THAT(world.undone_order(), ElementsAre("s4", "s3", "s2", "s1"));
        // After a crash in the middle of it the refusal of a second sending proves nothing about the first.
        if (!world.crashed()) {
          EXPECT_EQ(world.called("s5", operation::compensate), 0U);
        }
      });
}

TEST(machine, b08_reverse_order_with_the_unknown_step) {
  run_with_every_crash(
      sequence_of(5), "{}", [](machine_world& world) { world.script("s5", operation::act, {reply::err}); },
      [](machine_world& world) {
        EXPECT_EQ(world.status(), saga_status::compensated);
        EXPECT_THAT(world.compensation_order(), ElementsAre("s5", "s4", "s3", "s2", "s1"));
      });
}

// B-09: the next compensation starts only after the slow one was acknowledged.
TEST(machine, b09_one_compensation_at_a_time) {
  run_with_every_crash(
      sequence_of(4), "{}",
      [](machine_world& world) {
        world.script("s4", operation::act, {reply::reject});
        world.script("s3", operation::compensate, {reply::err, reply::ok});
        world.on_event = [](machine_world& now, event const&) {
          auto const open = [&](std::string const& step) {
            auto const found = now.log().find(step);
            return found != now.log().end() && found->second.status == compensation_status::pending;
          };
          EXPECT_LE(int{open("s3")} + int{open("s2")} + int{open("s1")}, 1);
        };
      },
      [](machine_world& world) { EXPECT_THAT(world.undone_order(), ElementsAre("s3", "s2", "s1")); });
}

// B-10: a failure inside a branch: its later steps never run, its done ones and the siblings' are undone, the same local names stay apart.
TEST(machine, b10_failure_inside_a_branch) {
  run_with_every_crash(
      fan, "{}", [](machine_world& world) { world.script("fan/left/two", operation::act, {reply::reject}); },
      [](machine_world& world) {
        EXPECT_EQ(world.status(), saga_status::compensated);
        EXPECT_EQ(world.called("after", operation::act), 0U);
        if (!world.crashed()) {
          EXPECT_EQ(world.called("fan/left/two", operation::compensate), 0U);
        }
        EXPECT_EQ(world.applied("fan/left/one", operation::compensate), 1U);
        EXPECT_EQ(world.applied("fan/middle/one", operation::compensate), 1U);
        EXPECT_EQ(world.applied("fan/right/one", operation::compensate), 1U);
        EXPECT_EQ(world.compensation_order().back(), "before");
      });
}

// B-11: a compensation that is refused parks; what stands before it waits, and goes on after an operator's word.
TEST(machine, b11_refused_compensation_parks_and_a_person_decides) {
  for (auto const kind : {event_kind::operator_retry, event_kind::operator_skip, event_kind::operator_complete}) {
    SCOPED_TRACE(name(kind));
    machine_world world{sequence_of(4)};
    world.script("s4", operation::act, {reply::reject});
    world.script("s3", operation::compensate, {reply::reject, reply::ok});
    world.run();
    EXPECT_EQ(world.status(), saga_status::parked);
    EXPECT_EQ(world.called("s2", operation::compensate), 0U);
    EXPECT_THAT(world.machine().parked_steps(), ElementsAre(step_path{"s3"}));
    EXPECT_THAT(world.machine().cause(), HasSubstr("s4 refused"));
    ASSERT_EQ(world.alerts().size(), 1U);
    EXPECT_EQ(world.alerts()[0].level, alert_level::page);
    EXPECT_THAT(world.alerts()[0].text, HasSubstr("s3"));
    EXPECT_EQ(world.log().at("s3").status, compensation_status::failed);
    EXPECT_EQ(world.operator_action(kind, "s3", "seen by hand", "{}"), std::nullopt);
    world.go_on();
    EXPECT_EQ(world.status(), saga_status::compensated);
    EXPECT_EQ(world.applied("s2", operation::compensate), 1U);
    EXPECT_EQ(world.applied("s1", operation::compensate), 1U);
  }
}

// B-12: a compensation has its own limit of attempts, which survives a restart.
TEST(machine, b12_attempt_limit_of_a_compensation) {
  run_with_every_crash(
      sequence_of(3), "{}",
      [](machine_world& world) {
        world.script("s3", operation::act, {reply::reject});
        world.script("s2", operation::compensate, {reply::err});
      },
      [](machine_world& world) {
        EXPECT_EQ(world.status(), saga_status::parked);
        std::set<std::uint32_t> numbers;
        for (auto const& call : world.calls()) {
          if (call.step == "s2" && call.op == operation::compensate) numbers.insert(call.n);
        }
        EXPECT_THAT(numbers, UnorderedElementsAre(1U, 2U, 3U));
        EXPECT_EQ(world.called("s1", operation::compensate), 0U);
      });
}

// B-13: branches undo side by side; one that is stuck keeps the saga parked, and its siblings come to their end.
TEST(machine, b13_a_parked_branch_stops_what_is_before_not_its_siblings) {
  run_with_every_crash(
      fan, "{}",
      [](machine_world& world) {
        world.script("after", operation::act, {reply::reject});
        world.script("fan/middle/one", operation::compensate, {reply::reject});
      },
      [](machine_world& world) {
        EXPECT_EQ(world.status(), saga_status::parked);
        EXPECT_EQ(world.effect("fan/left/one"), 0);
        EXPECT_EQ(world.effect("fan/left/two"), 0);
        EXPECT_EQ(world.effect("fan/right/one"), 0);
        EXPECT_EQ(world.effect("fan/right/two"), 0);
        EXPECT_EQ(world.effect("fan/middle/one"), 1);
        EXPECT_EQ(world.effect("before"), 1);
        EXPECT_THAT(world.machine().parked_steps(), ElementsAre(step_path{"fan/middle/one"}));
      });
}

// B-14: the first cause is kept to the end, in its own words.
TEST(machine, b14_the_first_cause_stays) {
  run_with_every_crash(
      sequence_of(3), "{}",
      [](machine_world& world) {
        world.script("s2", operation::act, {reply::reject});
        world.script("s1", operation::compensate, {reply::err, reply::ok});
      },
      [](machine_world& world) {
        EXPECT_EQ(world.status(), saga_status::compensated);
        EXPECT_EQ(world.machine().cause(), "s2 refused: 409 limit reached – größer (attempt 1)");
      });
}

// B-16: an operator's retry touches the parked step alone.
TEST(machine, b16_operator_retry_of_one_branch_leaves_its_siblings) {
  machine_world world{fan};
  world.script("after", operation::act, {reply::reject});
  world.script("fan/middle/one", operation::compensate, {reply::reject, reply::ok});
  world.run();
  ASSERT_EQ(world.status(), saga_status::parked);
  auto const left = world.called("fan/left/one", operation::compensate);
  EXPECT_EQ(world.operator_action(event_kind::operator_retry, "fan/middle/one"), std::nullopt);
  world.go_on();
  EXPECT_EQ(world.status(), saga_status::compensated);
  EXPECT_EQ(world.called("fan/left/one", operation::compensate), left);
  EXPECT_EQ(world.called("fan/middle/one", operation::compensate), 2U);
}

// B-17: work done before a lost reply is undone.
TEST(machine, b17_unknown_outcome_is_compensated) {
  run_with_every_crash(
      sequence_of(2), "{}", [](machine_world& world) { world.script("s2", operation::act, {reply::drop}); },
      [](machine_world& world) {
        EXPECT_EQ(world.status(), saga_status::compensated);
        EXPECT_THAT(world.compensation_order(), ElementsAre("s2", "s1"));
        EXPECT_EQ(world.applied("s2", operation::act), 1U);
        EXPECT_EQ(world.effect("s2"), 0);
      });
}

// A refusal after an attempt of unknown outcome does not take the doubt away.
TEST(machine, refusal_after_unknown_stays_maybe_done) {
  run_with_every_crash(
      sequence_of(2), "{}", [](machine_world& world) { world.script("s2", operation::act, {reply::drop, reply::reject}); },
      [](machine_world& world) {
        EXPECT_EQ(world.status(), saga_status::compensated);
        EXPECT_THAT(world.compensation_order(), ElementsAre("s2", "s1"));
        EXPECT_EQ(world.effect("s2"), 0);
      });
}

TEST(machine, definitely_not_done_is_not_compensated) {
  run_with_every_crash(
      sequence_of(2), "{}", [](machine_world& world) { world.script("s2", operation::act, {reply::not_done}); },
      [](machine_world& world) {
        EXPECT_EQ(world.status(), saga_status::compensated);
        EXPECT_THAT(world.undone_order(), ElementsAre("s1"));
        if (!world.crashed()) {
          EXPECT_THAT(world.compensation_order(), ElementsAre("s1"));
        }
      });
}

// Every step of a sequence and of a fan fails once in every way, with a crash after every event.
TEST(machine, every_single_failure_with_every_crash) {
  for (auto const& [yaml, steps] :
       {std::pair{sequence_of(3), std::vector<std::string>{"s1", "s2", "s3"}},
        std::pair{fan, std::vector<std::string>{"before", "fan/left/one", "fan/left/two", "fan/middle/one", "fan/right/two", "after"}}}) {
    for (auto const& step : steps) {
      for (auto const how : {reply::reject, reply::err, reply::not_done, reply::drop}) {
        SCOPED_TRACE(step + " fails by " + std::to_string(static_cast<int>(how)));
        run_with_every_crash(
            yaml, "{}", [&](machine_world& world) { world.script(step, operation::act, {how}); },
            [](machine_world& world) { EXPECT_EQ(world.status(), saga_status::compensated); });
      }
    }
  }
}

}  // namespace
}  // namespace atone::test
