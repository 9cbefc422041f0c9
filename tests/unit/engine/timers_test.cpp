// Time, and answers that come late.
#include <gmock/gmock.h>

#include "../machine/definitions.hpp"
#include "engine_definitions.hpp"
#include "engine_world.hpp"

namespace atone::test {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using kind = event_kind;

TEST(engine_timers, the_deadline_turns_the_saga_round) {
  engine_world world{brief};
  auto const id = world.begun();
  world.succeed(id, "first");
  world.answer(id, "second", failed_with(certainty::not_done));
  world.commit_all();
  world.act(operator_request::action_kind::pause, id);
  world.commit_all();
  world.pass(seconds{60});
  world.act(operator_request::action_kind::resume, id);
  world.commit_all();
  EXPECT_EQ(world.stored(id).status, saga_status::compensating);
  EXPECT_THAT(world.under_way(id), ElementsAre("first"));
}

TEST(engine_timers, a_deadline_that_passes_during_a_call_waits_for_its_answer) {
  engine_world world{brief};
  auto const id = world.begun();
  world.pass(seconds{60});
  world.commit_all();
  EXPECT_THAT(world.stored(id).cause, HasSubstr("the deadline of 1m passed"));
  EXPECT_THAT(world.under_way(id), ElementsAre("first"));
  EXPECT_EQ(world.sent(), 1U);
  world.succeed(id, "first");
  EXPECT_EQ(world.call(1).what.op, operation::compensate);
}

TEST(engine_timers, a_retry_is_sent_when_it_is_due_and_not_before) {
  engine_world world{brief};
  auto const id = world.begun();
  world.answer(id, "first", failed_with(certainty::unknown));
  world.commit_all();
  world.pass(std::chrono::milliseconds{999});
  EXPECT_EQ(world.sent(), 1U);
  world.pass(std::chrono::milliseconds{1});
  EXPECT_EQ(world.sent(), 1U) << "not before its event is durable";
  world.commit_all();
  ASSERT_EQ(world.sent(), 2U);
  EXPECT_EQ(world.call(1).what.n, attempt{2});
  EXPECT_EQ(world.call(1).what.key, world.call(0).what.key);
}

// A machine whose clock was an hour ahead, and is right again after the restart.
TEST(engine_timers, a_retry_armed_by_a_clock_that_was_ahead_is_not_waited_for_as_long) {
  engine_world world{brief};
  world.take_time(std::chrono::hours{1});
  auto const id = world.begun();
  world.answer(id, "first", failed_with(certainty::unknown));
  world.commit_all();
  world.take_time(-std::chrono::hours{1});
  world.crash();
  world.commit_all();
  EXPECT_EQ(world.sent(), 1U);
  world.pass(seconds{1});
  world.commit_all();
  ASSERT_EQ(world.sent(), 2U);
  world.succeed(id, "first");
  world.succeed(id, "second");
  EXPECT_EQ(world.history(id).back(), kind::step_succeeded) << "its times go back, its order does not";
  EXPECT_EQ(world.stored(id).status, saga_status::completed);
}

// What the machine decided by the wrong time stands, however often it is replayed.
TEST(engine_timers, a_compensation_that_was_parked_by_a_clock_that_was_ahead_stays_parked) {
  engine_world world{hurried_undo};
  auto const id = world.begun();
  world.succeed(id, "first");
  world.refuse(id, "second");
  world.take_time(std::chrono::hours{1});
  world.answer(id, "first", failed_with(certainty::unknown), operation::compensate);
  world.commit_all();
  ASSERT_EQ(world.stored(id).status, saga_status::parked);
  world.take_time(-std::chrono::hours{1});
  auto const sent = world.sent();
  world.crash();
  world.commit_all();
  EXPECT_EQ(world.stored(id).status, saga_status::parked);
  EXPECT_EQ(world.sent(), sent);
  (void)world.act(operator_request::action_kind::skip, id, "first", "seen to");
  world.commit_all();
  EXPECT_EQ(world.stored(id).status, saga_status::compensated);
  for (auto const& alert : world.alerts_of(id)) EXPECT_THAT(alert.text, ::testing::Not(HasSubstr("replay")));
}

TEST(engine_timers, what_the_participant_asked_for_is_waited) {
  engine_world world{brief};
  auto const id = world.begun();
  auto busy = failed_with(certainty::not_done);
  busy.retry_after = seconds{30};
  world.answer(id, "first", busy);
  world.commit_all();
  ASSERT_TRUE(world.alarm().has_value());
  EXPECT_EQ(*world.alarm(), world.now() + seconds{30});
}

TEST(engine_timers, the_answer_of_an_earlier_attempt_is_recorded_and_not_used) {
  engine_world world{brief};
  auto const id = world.begun();
  world.answer(id, "first", failed_with(certainty::unknown));
  world.commit_all();
  world.pass(seconds{1});
  world.commit_all();
  auto const late = world.report(id, "first", 1, done_with(R"("late")"));
  world.commit_all();
  EXPECT_EQ(late.code(), errc::conflict);
  EXPECT_EQ(world.late(), 1U);
  EXPECT_EQ(world.history(id).back(), kind::late_answer);
  EXPECT_THAT(world.under_way(id), ElementsAre("first")) << "the second attempt is still waited for";
  world.succeed(id, "first");
  EXPECT_THAT(world.under_way(id), ElementsAre("second"));
}

TEST(engine_timers, a_step_timeout_abandons_its_call_and_undoes_what_may_be_done) {
  engine_world world{brief};
  auto const id = world.begun();
  world.succeed(id, "first");
  world.pass(seconds{10});
  EXPECT_THAT(world.under_way(id), ElementsAre("second")) << "not before that is durable";
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("second"));
  EXPECT_EQ(world.call(2).what.op, operation::compensate);
  EXPECT_EQ(world.engine().figures().calls_in_flight, 1U);
}

// B-23: an address that takes no connections holds its calls back; neither the timeout nor the deadline waits for it.
TEST(engine_timers, a_call_that_never_left_is_surely_not_done_at_its_timeout) {
  engine_world world{brief};
  auto const id = world.begun();
  world.hold_calls(true);
  world.succeed(id, "first");
  world.pass(seconds{10});
  world.hold_calls(false);
  world.commit_all();
  EXPECT_EQ(world.call(2).what.step.text(), "first") << "nothing of the second step is undone";
  EXPECT_EQ(world.call(2).what.op, operation::compensate);
  world.succeed(id, "first", operation::compensate);
  EXPECT_EQ(world.stored(id).status, saga_status::compensated);
  EXPECT_EQ(world.engine().figures().calls_in_flight, 0U);
}

TEST(engine_timers, a_repeated_call_that_waits_in_its_sender_does_not_leave_behind_its_timeout) {
  engine_world world{brief};
  auto const id = world.begun();
  world.succeed(id, "first");
  world.hold_calls(true);
  world.crash();
  world.commit_all();
  ASSERT_THAT(world.under_way(id), ElementsAre("second"));
  world.pass(seconds{30});
  EXPECT_THAT(world.under_way(id), IsEmpty()) << "not even before that is durable";
  world.hold_calls(false);
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("second")) << "an earlier sending may have done it";
  EXPECT_EQ(world.call(world.sent() - 1).what.op, operation::compensate);
}

TEST(engine_timers, a_call_that_never_left_is_taken_back_at_the_deadline) {
  engine_world world{brief};
  world.hold_calls(true);
  auto const id = world.begun();
  world.pass(seconds{60});
  world.commit_all();
  EXPECT_EQ(world.stored(id).status, saga_status::compensated);
  EXPECT_EQ(world.sent(), 1U);
  EXPECT_EQ(world.engine().figures().calls_in_flight, 0U);
}

TEST(engine_timers, an_answer_after_the_end_changes_nothing) {
  engine_world world{sequence_of(1)};
  auto const id = world.begun();
  world.succeed(id, "s1");
  auto const row = world.stored(id);
  EXPECT_EQ(world.report(id, "s1", 1, refused_with("no")).code(), errc::not_found);
  EXPECT_EQ(world.writes(), 0U);
  EXPECT_EQ(world.stored(id), row);
}

TEST(engine_timers, none_outlives_its_saga) {
  engine_world world{brief};
  auto const id = world.begun();
  ASSERT_TRUE(world.alarm().has_value());
  world.succeed(id, "first");
  world.succeed(id, "second");
  EXPECT_FALSE(world.alarm().has_value());
  world.wake();  // one that was on its way
  EXPECT_EQ(world.writes(), 0U);
}

TEST(engine_timers, many_due_at_once_are_handled_in_turns) {
  runtime::engine_settings settings;
  settings.timers_a_turn = 10;
  engine_world world{brief, settings};
  for (int n = 0; n < 25; ++n) world.start();
  world.commit_all();
  world.take_time(seconds{60});
  std::size_t turns = 0;
  for (; world.alarm() && *world.alarm() <= world.now(); ++turns) world.wake();
  EXPECT_EQ(turns, 3U);
  world.commit_all();
  EXPECT_EQ((*world.reader().counts())[saga_status::compensating], 25U);
}

TEST(engine_timers, each_saga_has_its_own) {
  engine_world world{brief};
  auto const first = world.begun();
  world.pass(seconds{30});
  auto const second = world.begun();
  world.pass(seconds{30});
  world.commit_all();
  EXPECT_EQ(world.stored(first).status, saga_status::compensating);
  EXPECT_EQ(world.stored(second).status, saga_status::running);
}

}  // namespace
}  // namespace atone::test
