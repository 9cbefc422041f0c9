// The `sql` step: statement and record are one transaction, so nothing else may happen to the saga meanwhile, and a statement
// that nobody waits for any more must not run.
#include <gmock/gmock.h>

#include "engine_definitions.hpp"
#include "engine_world.hpp"

namespace atone::test {
namespace {

using action = operator_request::action_kind;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using kind = event_kind;

std::string const one_row = R"({"rows": 1, "row": null})";

// One saga of `ledger` whose statement is with the writer.
saga_id at_the_statement(engine_world& world) {
  auto const id = world.begun();
  world.succeed(id, "order");
  EXPECT_EQ(world.next_sql().parameters, R"({"n":1})");
  return id;
}

TEST(engine_sql, its_record_is_made_with_the_statement_and_the_next_call_follows) {
  engine_world world{ledger};
  auto const id = at_the_statement(world);
  world.run_sql(one_row);
  EXPECT_THAT(world.history(id), ElementsAre(kind::started, kind::step_succeeded, kind::step_succeeded));
  EXPECT_EQ((*world.reader().history(id)).back().payload, one_row);
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("tell"));
}

TEST(engine_sql, it_waits_until_what_came_before_is_durable) {
  engine_world world{ledger};
  auto const id = world.begun();
  world.answer(id, "order", done_with());
  ASSERT_EQ(world.writes(), 1U);
  EXPECT_FALSE(world.next_write().records.empty());
  auto const paused = world.act(action::pause, id);  // gathers behind the answer
  world.commit();
  EXPECT_EQ(world.next_write().records.size(), 1U) << "the pause first: a history has no gaps";
  world.commit_all();
  EXPECT_TRUE(paused.fine());
  EXPECT_THAT(world.next_sql().text, HasSubstr("insert into book"));
}

TEST(engine_sql, a_refused_statement_turns_the_saga_round) {
  engine_world world{ledger};
  auto const id = at_the_statement(world);
  world.refuse_sql("duplicate key");
  world.commit_all();
  EXPECT_THAT(world.stored(id).cause, HasSubstr("duplicate key"));
  EXPECT_THAT(world.under_way(id), ElementsAre("order"));
  world.succeed(id, "order", operation::compensate);
  EXPECT_EQ(world.stored(id).status, saga_status::compensated) << "what was refused is not undone";
}

TEST(engine_sql, its_compensation_is_a_statement_too) {
  engine_world world{ledger};
  auto const id = at_the_statement(world);
  world.run_sql(one_row);
  world.commit_all();
  world.refuse(id, "tell");
  EXPECT_THAT(world.next_sql().text, HasSubstr("delete from book"));
  world.run_sql(one_row);
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("order"));
}

TEST(engine_sql, an_action_meanwhile_waits_for_the_statement) {
  engine_world world{ledger};
  auto const id = at_the_statement(world);
  auto const cancelled = world.act(action::cancel, id);
  EXPECT_EQ(world.writes(), 1U) << "the statement alone";
  world.run_sql(one_row);
  world.commit_all();
  ASSERT_TRUE(cancelled.fine());
  EXPECT_THAT(world.history(id), ElementsAre(kind::started, kind::step_succeeded, kind::step_succeeded, kind::cancel_requested));
  world.refuse(id, "tell");
  EXPECT_THAT(world.next_sql().text, HasSubstr("delete from book"));
}

TEST(engine_sql, an_action_that_waits_for_it_is_told_when_the_store_is_lost) {
  engine_world world{ledger};
  auto const id = at_the_statement(world);
  auto const cancelled = world.act(action::cancel, id);
  world.fail_write(errc::fenced);
  ASSERT_TRUE(cancelled.heard());
  EXPECT_FALSE(cancelled.fine());
  EXPECT_FALSE(world.engine().driving());
}

TEST(engine_sql, a_deadline_meanwhile_waits_for_the_statement) {
  engine_world world{"deadline: 1m\n" + ledger};
  auto const id = at_the_statement(world);
  world.pass(seconds{60});
  EXPECT_EQ(world.writes(), 1U);
  world.run_sql(one_row);
  world.commit_all();
  EXPECT_THAT(world.stored(id).cause, HasSubstr("the deadline of 1m passed"));
}

TEST(engine_sql, a_lost_store_stops_the_engine) {
  engine_world world{ledger};
  auto const id = at_the_statement(world);
  auto const waiting = world.wait(id);
  world.fail_write(errc::fenced);
  EXPECT_EQ(waiting.code(), errc::fenced);
  EXPECT_EQ(world.stops(), 1U);
}

TEST(engine_sql, a_statement_that_was_not_committed_runs_after_the_take_over) {
  engine_world world{ledger};
  auto const id = at_the_statement(world);
  world.crash();
  world.commit_all();
  EXPECT_THAT(world.next_sql().text, HasSubstr("insert into book"));
  world.run_sql(one_row);
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("tell"));
}

// ---- a statement with a branch beside it ----

// Both branches' answers have gathered behind a commit that takes long: the statement waits for its turn.
saga_id statement_behind_a_slow_commit(engine_world& world) {
  auto const id = world.begun();
  world.answer(id, "fan/books/order", done_with());
  world.answer(id, "fan/calls/call", failed_with(certainty::not_done));
  world.commit();
  EXPECT_FALSE(world.next_write().records.empty()) << "the other branch's event goes first";
  return id;
}

TEST(engine_sql, a_statement_whose_step_has_timed_out_meanwhile_is_not_run) {
  engine_world world{hurried_ledger};
  auto const id = statement_behind_a_slow_commit(world);
  world.pass(seconds{2});
  while (world.writes() > 0 && !world.next_write().empty()) world.commit();
  EXPECT_EQ(world.writes(), 0U) << "nobody waits for it any more";
  EXPECT_THAT(world.history(id), ::testing::Contains(kind::timer_fired));
}

// It has not been recorded, so it has not been done: there is nothing to undo.
TEST(engine_sql, a_statement_that_has_not_run_is_not_undone) {
  engine_world world{hurried_ledger};
  auto const id = statement_behind_a_slow_commit(world);
  world.pass(seconds{2});
  world.commit_all();
  EXPECT_EQ(world.writes(), 0U);
  EXPECT_THAT(world.under_way(id), ElementsAre("fan/books/order")) << "the compensation of the step before";
  world.succeed(id, "fan/books/order", operation::compensate);
  EXPECT_EQ(world.stored(id).status, saga_status::compensated);
}

TEST(engine_sql, a_report_meanwhile_is_told_only_when_it_is_durable) {
  engine_world world{hurried_ledger};
  auto const id = world.begun();
  world.succeed(id, "fan/books/order");
  ASSERT_THAT(world.next_sql().text, HasSubstr("insert into book"));
  auto const reported = world.report(id, "fan/calls/call", 1, done_with());
  EXPECT_FALSE(reported.heard());
  EXPECT_EQ(world.writes(), 1U) << "the statement alone";
  world.run_sql(one_row);
  EXPECT_FALSE(reported.heard());
  world.commit_all();
  EXPECT_TRUE(reported.fine());
  EXPECT_EQ(world.stored(id).status, saga_status::completed);
}

// Found by killing a process again and again: each waited until nothing was being committed, and was what the other was waiting for.
TEST(engine_sql, two_that_wait_for_their_own_events_do_not_wait_for_each_other) {
  engine_world world{ledger};
  auto const first = world.begun();
  auto const second = world.begun();
  for (auto const id : {first, second}) {
    world.answer(id, "order", done_with());
    (void)world.act(action::pause, id);
  }
  for (int commits = 0; commits < 10 && !world.next_is_sql(); ++commits) world.commit();
  EXPECT_TRUE(world.next_is_sql());
}

std::string const two_books = R"yaml(saga: books
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: fan
    parallel: {join: all, on_failure: cancel_rest}
    branches:
      left:
        - id: book
          sql: "insert into book(n) values (1)"
          compensate: {sql: "delete from book where n = 1"}
      right:
        - id: book
          sql: "insert into book(n) values (2)"
          compensate: {sql: "delete from book where n = 2"}
)yaml";

TEST(engine_sql, statements_of_two_branches_take_turns) {
  engine_world world{two_books};
  auto const id = world.begun();
  ASSERT_EQ(world.writes(), 1U) << "the other one waits";
  world.run_sql("{}");
  world.commit_all();
  ASSERT_EQ(world.writes(), 1U);
  world.run_sql("{}");
  world.commit_all();
  EXPECT_EQ(world.stored(id).status, saga_status::completed);
}

}  // namespace
}  // namespace atone::test
