// What people do and see: each action is recorded with who asked, is told only when durable, and nothing is shown before it is.
#include <gmock/gmock.h>

#include "../machine/definitions.hpp"
#include "engine_world.hpp"

namespace atone::test {
namespace {

using action = operator_request::action_kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using kind = event_kind;

std::string const row_of_two = sequence_of(2);

// One saga whose compensation of s1 is parked.
saga_id parked_undo(engine_world& world) {
  auto const id = world.begun();
  world.succeed(id, "s1");
  world.refuse(id, "s2");
  world.answer(id, "s1", refused_with("never"), operation::compensate);
  world.commit_all();
  EXPECT_EQ(world.stored(id).status, saga_status::parked);
  return id;
}

TEST(engine_operators, cancel_compensates_and_is_told_when_it_is_durable) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.succeed(id, "s1");
  auto const cancelled = world.act(action::cancel, id, {}, "wrong order");
  EXPECT_FALSE(cancelled.heard());
  world.commit_all();
  ASSERT_TRUE(cancelled.fine());
  EXPECT_EQ(cancelled.value().row.status, saga_status::compensating);
  world.refuse(id, "s2");  // was under way
  world.succeed(id, "s1", operation::compensate);
  EXPECT_EQ(world.stored(id).status, saga_status::compensated);
  EXPECT_EQ(world.stored(id).cause, "cancelled by anna: wrong order");
}

TEST(engine_operators, cancel_after_the_pivot_is_refused_and_recorded) {
  engine_world world{pivot};
  auto const id = world.begun();
  world.succeed(id, "reserve");
  auto const refused = world.act(action::cancel, id);
  EXPECT_FALSE(refused.heard());
  world.commit_all();
  EXPECT_EQ(refused.code(), errc::conflict);
  auto const actions = *world.reader().actions(id);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(actions[0].actor, "anna");
  EXPECT_THAT(actions[0].outcome, HasSubstr("the pivot has been sent"));
  EXPECT_THAT(world.under_way(id), ElementsAre("pay"));
}

TEST(engine_operators, a_paused_saga_records_answers_and_sends_nothing_until_resumed) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.act(action::pause, id);
  world.commit_all();
  EXPECT_EQ(world.stored(id).status, saga_status::paused);
  world.succeed(id, "s1");
  EXPECT_THAT(world.under_way(id), IsEmpty());
  EXPECT_THAT(world.history(id), ElementsAre(kind::started, kind::pause_requested, kind::step_succeeded));
  world.act(action::resume, id);
  world.commit_all();
  EXPECT_EQ(world.stored(id).status, saga_status::running);
  EXPECT_THAT(world.under_way(id), ElementsAre("s2"));
}

TEST(engine_operators, a_pause_outlives_a_crash) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.act(action::pause, id);
  world.succeed(id, "s1");
  world.crash();
  world.commit_all();
  EXPECT_THAT(world.under_way(id), IsEmpty());
  world.act(action::resume, id);
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("s2"));
}

TEST(engine_operators, retry_sends_a_parked_compensation_again) {
  engine_world world{row_of_two};
  auto const id = parked_undo(world);
  auto const retried = world.act(action::retry, id);
  world.commit_all();
  ASSERT_TRUE(retried.fine()) << retried.message();
  world.succeed(id, "s1", operation::compensate);
  EXPECT_EQ(world.stored(id).status, saga_status::compensated);
}

TEST(engine_operators, skip_and_complete_want_a_note) {
  engine_world world{row_of_two};
  auto const id = parked_undo(world);
  auto const skipped = world.act(action::skip, id);
  auto const completed = world.act(action::complete, id, {}, {}, "null");
  world.commit_all();
  EXPECT_EQ(skipped.code(), errc::invalid_argument);
  EXPECT_EQ(completed.code(), errc::invalid_argument);
  EXPECT_EQ(world.stored(id).status, saga_status::parked);
  auto const noted = world.act(action::skip, id, {}, "refunded by hand");
  world.commit_all();
  ASSERT_TRUE(noted.fine());
  EXPECT_EQ(world.stored(id).status, saga_status::compensated);
}

TEST(engine_operators, a_saga_that_is_not_under_way_is_not_found) {
  engine_world world{sequence_of(1)};
  auto const id = world.begun();
  world.succeed(id, "s1");
  EXPECT_EQ(world.act(action::cancel, id).code(), errc::not_found);
  EXPECT_EQ(world.act(action::cancel, saga_id{}).code(), errc::not_found);
  EXPECT_EQ(world.writes(), 0U);
}

TEST(engine_operators, a_start_that_is_not_durable_cannot_be_acted_on) {
  engine_world world{row_of_two};
  world.start();
  auto const id = world.next_write().starts.at(0).row.id;
  EXPECT_EQ(world.act(action::cancel, id).code(), errc::not_found);
}

TEST(engine_view, shows_nothing_that_is_not_durable) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.start();                      // in flight
  auto const early = world.view(id);  // before the answer: what it saw is told after the next commit
  world.commit();
  world.answer(id, "s1", done_with());
  world.commit();
  ASSERT_TRUE(early.fine());
  EXPECT_EQ(early.value()->row.last, sequence{1});
  EXPECT_EQ(early.value()->steps.at(0).phase, run_phase::active);
  auto const late = world.view(id);
  EXPECT_FALSE(late.heard());
  world.commit_all();
  EXPECT_EQ(late.value()->row.last, sequence{2});
}

TEST(engine_view, of_what_is_not_under_way_says_so) {
  engine_world world{row_of_two};
  auto const seen = world.view(saga_id{});
  ASSERT_TRUE(seen.fine());
  EXPECT_FALSE(seen.value().has_value());
}

TEST(engine_wait, ends_with_the_saga_when_that_is_durable) {
  engine_world world{sequence_of(1)};
  auto const id = world.begun();
  auto const waiting = world.wait(id);
  world.answer(id, "s1", done_with());
  EXPECT_FALSE(waiting.heard());
  world.commit();
  ASSERT_TRUE(waiting.fine());
  EXPECT_TRUE(waiting.value()->completed());
}

TEST(engine_wait, ends_when_the_saga_is_parked) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  auto const waiting = world.wait(id);
  world.succeed(id, "s1");
  world.refuse(id, "s2");
  world.answer(id, "s1", refused_with("never"), operation::compensate);
  EXPECT_FALSE(waiting.heard());
  world.commit_all();
  ASSERT_TRUE(waiting.fine());
  EXPECT_THAT(waiting.value()->parked, ElementsAre(step_path{"s1"}));
}

TEST(engine_wait, one_that_was_withdrawn_is_told_nothing) {
  engine_world world{sequence_of(1)};
  auto const id = world.begun();
  told<std::optional<saga_view>> waiting;
  auto const number = world.engine().wait(id, waiting.callback());
  world.engine().end_wait(id, number);
  world.succeed(id, "s1");
  EXPECT_FALSE(waiting.heard());
}

// Parked in one batch, ended in the next: the end is told with the batch that has it.
TEST(engine_wait, an_end_that_is_not_durable_is_not_told) {
  engine_world world{test::pivot};
  auto const id = world.begun();
  world.succeed(id, "reserve");
  world.succeed(id, "pay");
  world.answer(id, "ship", refused_with("no"));  // parks, being written
  ASSERT_EQ(world.writes(), 1U);
  auto const waiting = world.wait(id);
  (void)world.act(operator_request::action_kind::skip, id, "ship", "by hand");
  world.commit();
  EXPECT_FALSE(waiting.heard());
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ::testing::ElementsAre("tell"));
}

}  // namespace
}  // namespace atone::test
