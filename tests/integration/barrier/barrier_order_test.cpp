// What the barrier says, operation by operation: first, again, undone, too late.
#include "barrier_suite.hpp"

namespace atone::test {
namespace {

TEST_P(barrier_suite, the_first_call_does_its_work_and_gets_its_answer) {
  auto const done = run(operation::act, 5, R"({"paid":5})");
  EXPECT_EQ(done.verdict, verdict::proceed);
  EXPECT_EQ(done.answer.status, 200);
  EXPECT_FALSE(done.answer.refused);
  EXPECT_EQ(done.answer.body, R"({"paid":5})");
  EXPECT_EQ(amount(), 5);
}

TEST_P(barrier_suite, a_duplicate_gets_the_stored_answer_and_does_nothing) {
  std::string body = "\"";
  for (int byte = 0; byte < 256; ++byte) body += static_cast<char>(byte);
  run(call_of(operation::act), [&](participant::sql_session& sql) -> result<answer> {
    auto const done = sql.execute("UPDATE account SET amount = amount + 5", {});
    if (!done) return done.error();
    auto given = answer::done(body);
    given.status = 201;
    return given;
  });
  for (int round = 0; round < 3; ++round) {
    auto const again = run(operation::act, 100, "other");
    EXPECT_EQ(again.verdict, verdict::duplicate);
    EXPECT_EQ(again.answer.status, 201);
    EXPECT_EQ(again.answer.body, body);
    EXPECT_FALSE(again.answer.refused);
  }
  EXPECT_EQ(amount(), 5);
}

TEST_P(barrier_suite, steps_sagas_and_operations_are_kept_apart) {
  EXPECT_EQ(run(operation::act, 1).verdict, verdict::proceed);
  EXPECT_EQ(run(call_of(operation::act, "fan/pay"), adding(10, "")).verdict, verdict::proceed);
  EXPECT_EQ(run(call_of(operation::fallback), adding(100, "")).verdict, verdict::proceed);
  auto other = call_of(operation::act);
  other.saga = "01JDZ4M6GQ5V7Y8N2W3X4R5T6Z";
  EXPECT_EQ(run(other, adding(1'000, "")).verdict, verdict::proceed);
  EXPECT_EQ(amount(), 1'111);
}

TEST_P(barrier_suite, a_compensation_undoes_once) {
  run(operation::act, 5);
  auto const undone = run(operation::compensate, -5, "undone");
  EXPECT_EQ(undone.verdict, verdict::proceed);
  EXPECT_EQ(undone.answer.body, "undone");
  EXPECT_EQ(amount(), 0);
  auto const again = run(operation::compensate, -5);
  EXPECT_EQ(again.verdict, verdict::duplicate);
  EXPECT_EQ(again.answer.body, "undone");
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, a_duplicate_of_the_action_after_its_compensation_does_nothing) {
  run(operation::act, 5, "paid");
  run(operation::compensate, -5);
  auto const late = run(operation::act, 5);
  EXPECT_EQ(late.verdict, verdict::duplicate);
  EXPECT_EQ(late.answer.body, "paid");
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, a_compensation_that_comes_first_is_empty_and_stops_the_late_action) {
  auto const empty = run(operation::compensate, -5);
  EXPECT_EQ(empty.verdict, verdict::empty);
  EXPECT_EQ(empty.answer.status, 200);
  EXPECT_EQ(empty.answer.body, "{}");
  EXPECT_FALSE(empty.answer.refused);
  for (int round = 0; round < 2; ++round) {
    auto const late = run(operation::act, 5);
    EXPECT_EQ(late.verdict, verdict::refused);
    EXPECT_TRUE(late.answer.refused);
    EXPECT_EQ(late.answer.status, 409);
    EXPECT_NE(late.answer.body.find("already compensated"), std::string::npos) << late.answer.body;
  }
  auto const again = run(operation::compensate, -5);
  EXPECT_NE(again.verdict, verdict::proceed);
  EXPECT_EQ(again.answer.status, 200);
  EXPECT_EQ(again.answer.body, "{}");
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, a_refusal_is_stored_and_its_statements_are_not) {
  auto const refused = run(call_of(operation::act), refusing(5, R"({"why":"no money"})"));
  EXPECT_EQ(refused.verdict, verdict::proceed);
  EXPECT_TRUE(refused.answer.refused);
  EXPECT_EQ(amount(), 0);
  auto const again = run(operation::act, 5);
  EXPECT_EQ(again.verdict, verdict::duplicate);
  EXPECT_TRUE(again.answer.refused);
  EXPECT_EQ(again.answer.status, 422);
  EXPECT_EQ(again.answer.body, R"({"why":"no money"})");
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, there_is_nothing_to_undo_after_a_refusal) {
  run(call_of(operation::act), refusing(5, "no"));
  EXPECT_EQ(run(operation::compensate, -5).verdict, verdict::empty);
  EXPECT_EQ(amount(), 0);
  // The refusal is still what a duplicate of the action gets.
  auto const late = run(operation::act, 5);
  EXPECT_TRUE(late.answer.refused);
  EXPECT_EQ(amount(), 0);
}

// B-11: an operator's retry of a refused compensation comes under the same key: it must reach the business again.
TEST_P(barrier_suite, b11_a_refused_compensation_may_be_tried_again) {
  run(operation::act, 5);
  auto const refused = run(call_of(operation::compensate), refusing(-5, "the till is closed"));
  EXPECT_EQ(refused.verdict, verdict::proceed);
  EXPECT_TRUE(refused.answer.refused);
  EXPECT_EQ(amount(), 5);
  auto const again = run(operation::compensate, -5);
  EXPECT_EQ(again.verdict, verdict::proceed);
  EXPECT_FALSE(again.answer.refused);
  EXPECT_EQ(amount(), 0);
  EXPECT_EQ(run(operation::compensate, -5).verdict, verdict::duplicate);
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, an_error_leaves_nothing_and_the_call_may_come_again) {
  auto const failing = [](participant::sql_session& sql) -> result<answer> {
    auto const done = sql.execute("UPDATE account SET amount = amount + 5", {});
    if (!done) return done.error();
    return error{errc::internal, "the disk of the printer is full"};
  };
  auto const failed = database_->run(call_of(operation::act), failing);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the disk of the printer is full");
  EXPECT_EQ(amount(), 0);
  EXPECT_EQ(run(operation::act, 5).verdict, verdict::proceed);
  EXPECT_EQ(amount(), 5);
}

TEST_P(barrier_suite, an_error_of_a_compensation_leaves_no_tombstone) {
  auto const failing = [](participant::sql_session&) -> result<answer> { return error{errc::internal, "not now"}; };
  run(operation::act, 5);
  EXPECT_FALSE(database_->run(call_of(operation::compensate), failing));
  EXPECT_EQ(run(operation::compensate, -5).verdict, verdict::proceed);
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, a_failed_statement_spoils_the_transaction_even_if_the_business_goes_on) {
  auto const careless = [](participant::sql_session& sql) -> result<answer> {
    static_cast<void>(sql.execute("UPDATE account SET amount = 5", {}));
    static_cast<void>(sql.execute("UPDATE no_such_table SET amount = 5", {}));
    return answer::done("fine?");
  };
  EXPECT_FALSE(database_->run(call_of(operation::act), careless));
  EXPECT_EQ(amount(), 0);
  EXPECT_EQ(run(operation::act, 7).verdict, verdict::proceed);
}

TEST_P(barrier_suite, the_business_may_not_end_the_transaction) {
  auto const cheating = [](participant::sql_session& sql) -> result<answer> {
    auto const done = sql.script("COMMIT");
    if (!done) return done.error();
    return answer::done("");
  };
  EXPECT_FALSE(database_->run(call_of(operation::act), cheating));
  EXPECT_EQ(run(operation::act, 7).verdict, verdict::proceed);
}

TEST_P(barrier_suite, a_call_without_saga_or_operation_is_refused) {
  call nameless;
  nameless.op = operation::act;
  EXPECT_FALSE(database_->run(nameless, adding(1, "")));
  EXPECT_FALSE(database_->run(call_of(operation::none), adding(1, "")));
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, installing_again_keeps_what_is_stored) {
  run(operation::act, 5);
  expect_fine(database_->install_barrier());
  EXPECT_EQ(run(operation::act, 5).verdict, verdict::duplicate);
}

TEST_P(barrier_suite, answers_outlive_the_handle) {
  run(operation::act, 5, "paid");
  database_ = open();
  auto const again = run(operation::act, 5);
  EXPECT_EQ(again.verdict, verdict::duplicate);
  EXPECT_EQ(again.answer.body, "paid");
}

}  // namespace
}  // namespace atone::test
