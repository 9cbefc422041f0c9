// Try, confirm, cancel and prepare, commit, abort: one decision, never both.
#include "barrier_suite.hpp"

namespace atone::test {
namespace {

// The three words of one protocol.
struct trio {
  operation reserve;
  operation settle;
  operation undo;
};
constexpr trio tcc{operation::try_, operation::confirm, operation::cancel};
constexpr trio two_phase{operation::prepare, operation::commit, operation::abort};

TEST_P(barrier_suite, what_is_settled_can_not_be_undone) {
  for (auto const& words : {tcc, two_phase}) {
    EXPECT_EQ(run(words.reserve, 1).verdict, verdict::proceed);
    EXPECT_EQ(run(words.settle, 10).verdict, verdict::proceed);
    auto const late = run(words.undo, -1);
    EXPECT_EQ(late.verdict, verdict::refused);
    EXPECT_TRUE(late.answer.refused);
    EXPECT_EQ(late.answer.status, 409);
    EXPECT_EQ(run(words.settle, 10).verdict, verdict::duplicate);
  }
  EXPECT_EQ(amount(), 22);
}

TEST_P(barrier_suite, what_is_undone_can_not_be_settled) {
  for (auto const& words : {tcc, two_phase}) {
    EXPECT_EQ(run(words.reserve, 1).verdict, verdict::proceed);
    EXPECT_EQ(run(words.undo, -1).verdict, verdict::proceed);
    EXPECT_EQ(run(words.settle, 10).verdict, verdict::refused);
    EXPECT_EQ(run(words.settle, 10).verdict, verdict::refused);
    EXPECT_EQ(run(words.undo, -1).verdict, verdict::duplicate);
  }
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, an_undo_that_comes_first_stops_reserving_and_settling) {
  for (auto const& words : {tcc, two_phase}) {
    EXPECT_EQ(run(words.undo, -1).verdict, verdict::empty);
    EXPECT_EQ(run(words.reserve, 1).verdict, verdict::refused);
    EXPECT_EQ(run(words.settle, 10).verdict, verdict::refused);
  }
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, a_refused_try_leaves_nothing_to_cancel) {
  run(call_of(operation::try_), refusing(5, "none left"));
  EXPECT_EQ(run(operation::cancel, -5).verdict, verdict::empty);
  EXPECT_EQ(amount(), 0);
}

}  // namespace
}  // namespace atone::test
