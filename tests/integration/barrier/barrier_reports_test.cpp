// BUG_REPORTS B-05, B-06 and B-07: what others' barriers got wrong.
#include <future>
#include <thread>

#include "barrier_suite.hpp"

namespace atone::test {
namespace {

// A cancel whose try was lost on the wire: answered as done in the first round, and the try that comes after all dies.
TEST_P(barrier_suite, b05_a_cancel_without_its_try_succeeds_at_once) {
  auto const first = run(operation::cancel, -5);
  EXPECT_EQ(first.verdict, verdict::empty);
  EXPECT_EQ(first.answer.status, 200);
  EXPECT_FALSE(first.answer.refused);
  EXPECT_EQ(run(operation::try_, 5).verdict, verdict::refused);
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, b05_the_same_for_a_compensation) {
  EXPECT_EQ(run(operation::compensate, -5).answer.status, 200);
  EXPECT_EQ(run(operation::act, 5).verdict, verdict::refused);
  EXPECT_EQ(amount(), 0);
}

// The first reply was lost: five repeats get the same answer, and the transaction of a duplicate is still usable.
TEST_P(barrier_suite, b06_five_duplicates_get_the_same_answer_and_never_an_error) {
  auto const first = run(operation::act, 5, R"({"receipt":17})");
  for (int repeat = 0; repeat < 5; ++repeat) {
    auto const again = run(operation::act, 5, "other");
    EXPECT_EQ(again.verdict, verdict::duplicate);
    EXPECT_EQ(again.answer.body, first.answer.body);
    expect_fine(database_->transact([](participant::sql_session& sql) -> result<void> {
      auto const rows = sql.execute("SELECT count(*) AS n FROM account", {});
      if (!rows) return rows.error();
      return {};
    }));
  }
  EXPECT_EQ(amount(), 5);
}

TEST_P(barrier_suite, b06_concurrent_duplicates_do_the_work_once) {
  constexpr int callers = 8;
  std::vector<std::thread> threads;
  std::vector<result<outcome>> done(callers, error{});
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      // Half of them share a handle, half have one of their own, as other processes would.
      auto const own = caller % 2 == 0 ? nullptr : open();
      auto& through = own ? *own : *database_;
      done[static_cast<std::size_t>(caller)] = through.run(call_of(operation::act), adding(5, "paid"));
    });
  }
  for (auto& thread : threads) thread.join();
  int proceeded = 0;
  for (auto const& one : done) {
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_EQ(one->answer.body, "paid");
    if (one->verdict == verdict::proceed) ++proceeded;
  }
  EXPECT_EQ(proceeded, 1);
  EXPECT_EQ(amount(), 5);
}

// The action holds its local transaction while its compensation arrives: the compensation waits for it and undoes it.
TEST_P(barrier_suite, b07_a_slow_action_is_not_overtaken_by_its_compensation) {
  auto const other = open();
  std::promise<void> inside;
  std::promise<void> go_on;
  result<outcome> acted = error{};
  std::thread acting{[&] {
    acted = database_->run(call_of(operation::act), [&](participant::sql_session& sql) -> result<answer> {
      auto const done = sql.execute("UPDATE account SET amount = amount + 5", {});
      if (!done) return done.error();
      inside.set_value();
      go_on.get_future().wait();
      return answer::done("paid");
    });
  }};
  inside.get_future().wait();
  result<outcome> undone = error{};
  std::thread undoing{[&] { undone = other->run(call_of(operation::compensate), adding(-5, "undone")); }};
  go_on.set_value();
  acting.join();
  undoing.join();
  ASSERT_TRUE(acted) << acted.error().message;
  ASSERT_TRUE(undone) << undone.error().message;
  EXPECT_EQ(acted->verdict, verdict::proceed);
  EXPECT_EQ(undone->verdict, verdict::proceed);
  EXPECT_EQ(amount(), 0);
}

// The same, but the action fails in the end: there is nothing to undo, and a repeat of the action is refused.
TEST_P(barrier_suite, b07_a_slow_action_that_fails_leaves_its_compensation_empty) {
  auto const other = open();
  std::promise<void> inside;
  std::promise<void> go_on;
  std::thread acting{[&] {
    auto const failed = database_->run(call_of(operation::act), [&](participant::sql_session& sql) -> result<answer> {
      auto const done = sql.execute("UPDATE account SET amount = amount + 5", {});
      if (!done) return done.error();
      inside.set_value();
      go_on.get_future().wait();
      return error{errc::internal, "crashed"};
    });
    EXPECT_FALSE(failed);
  }};
  inside.get_future().wait();
  result<outcome> undone = error{};
  std::thread undoing{[&] { undone = other->run(call_of(operation::compensate), adding(-5, "undone")); }};
  go_on.set_value();
  acting.join();
  undoing.join();
  ASSERT_TRUE(undone) << undone.error().message;
  EXPECT_EQ(undone->verdict, verdict::empty);
  EXPECT_EQ(run(operation::act, 5).verdict, verdict::refused);
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, b07_an_action_that_arrives_after_its_compensation_is_refused) {
  run(operation::compensate, -5);
  auto const late = run(operation::act, 5);
  EXPECT_EQ(late.verdict, verdict::refused);
  EXPECT_NE(late.answer.body.find("already compensated"), std::string::npos);
  EXPECT_EQ(amount(), 0);
}

// Action and compensation at the same moment, many times: whatever order they take, the effect is none.
TEST_P(barrier_suite, b07_racing_pairs_always_end_with_no_effect) {
  auto const other = open();
  for (int round = 0; round < 20; ++round) {
    auto const step = "pay-" + std::to_string(round);
    result<outcome> acted = error{};
    std::thread acting{[&] { acted = database_->run(call_of(operation::act, step), adding(5, "paid")); }};
    auto const undone = other->run(call_of(operation::compensate, step), adding(-5, "undone"));
    acting.join();
    ASSERT_TRUE(acted) << acted.error().message;
    ASSERT_TRUE(undone) << undone.error().message;
    bool const action_first = acted->verdict == verdict::proceed;
    EXPECT_EQ(undone->verdict, action_first ? verdict::proceed : verdict::empty);
    EXPECT_EQ(acted->verdict, action_first ? verdict::proceed : verdict::refused);
  }
  EXPECT_EQ(amount(), 0);
}

}  // namespace
}  // namespace atone::test
