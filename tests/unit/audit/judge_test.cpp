// One planted fault of every kind must be found, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit_script.hpp"

namespace atone::audit::test {
namespace {

using testing::HasSubstr;

void expect_only(report const& found, finding_kind kind, verdict expected) {
  ASSERT_EQ(found.findings.size(), 1U) << to_text(found);
  EXPECT_EQ(found.findings.front().kind, kind) << to_text(found);
  EXPECT_EQ(found.verdict(), expected);
  EXPECT_EQ(found.judged(), 1U);
}

TEST(judge_completed, every_done_step_once_is_proven) {
  auto const found = completed().judge();
  EXPECT_EQ(found.verdict(), verdict::proven) << to_text(found);
  EXPECT_EQ(found.proven, 1U);
  EXPECT_EQ(found.completed, 1U);
  EXPECT_EQ(exit_code(found), 0);
}

TEST(judge_completed, a_lost_effect_is_a_violation) {
  script saga{saga_status::completed};
  saga.succeeded("order").succeeded("fan/profile/tag").succeeded("ship");
  saga.applied("profiles", "fan/profile/tag", operation::act).applied("orders", "ship", operation::act);
  auto const found = saga.judge();
  expect_only(found, finding_kind::effect_missing, verdict::violated);
  EXPECT_EQ(found.findings.front().step.text(), "order");
  EXPECT_EQ(found.findings.front().service, "orders");
}

TEST(judge_completed, an_effect_applied_twice_is_a_violation) {
  auto saga = completed();
  saga.applied("profiles", "fan/profile/tag", operation::act);  // a second row for the same operation
  auto const found = saga.judge();
  expect_only(found, finding_kind::effect_twice, verdict::violated);
  EXPECT_EQ(found.effects_twice, 1U);
  EXPECT_THAT(found.findings.front().text, HasSubstr("2 times"));
}

TEST(judge_completed, a_skipped_step_with_an_effect_is_a_violation) {
  script saga{saga_status::completed};
  saga.succeeded("order").succeeded("ship");  // the tag was skipped by its `when`
  saga.applied("orders", "order", operation::act).applied("orders", "ship", operation::act);
  EXPECT_EQ(saga.judge().verdict(), verdict::proven);
  saga.applied("profiles", "fan/profile/tag", operation::act);
  expect_only(saga.judge(), finding_kind::effect_unexpected, verdict::violated);
}

TEST(judge_completed, a_step_that_only_reads_must_leave_nothing) {
  auto saga = completed();
  saga.applied("profiles", "look", operation::act);
  expect_only(saga.judge(), finding_kind::effect_unexpected, verdict::violated);
  script not_reached{saga_status::completed};
  not_reached.applied("profiles", "look", operation::act);
  expect_only(not_reached.judge(), finding_kind::effect_unexpected, verdict::violated);
}

TEST(judge_completed, a_compensation_in_a_completed_saga_is_a_violation) {
  auto saga = completed();
  saga.applied("orders", "order", operation::compensate);
  expect_only(saga.judge(), finding_kind::undone_when_completed, verdict::violated);
}

TEST(judge_completed, a_step_served_by_its_fallback_may_or_may_not_have_taken_effect) {
  script saga{saga_status::completed};
  saga.succeeded("order")
      .unknown("fan/profile/tag")
      .journal(event_kind::last_output_found, "fan/profile/tag", operation::none)
      .succeeded("ship");
  saga.applied("orders", "order", operation::act).applied("orders", "ship", operation::act);
  EXPECT_EQ(saga.judge().verdict(), verdict::proven) << "not done";
  saga.applied("profiles", "fan/profile/tag", operation::act);
  EXPECT_EQ(saga.judge().verdict(), verdict::proven) << "done after all";
  saga.applied("profiles", "fan/profile/tag", operation::act);
  expect_only(saga.judge(), finding_kind::effect_twice, verdict::violated);
}

TEST(judge_completed, a_step_ended_by_its_own_timer_may_have_taken_effect) {
  script saga{saga_status::completed};
  event timer;
  timer.kind = event_kind::timer_fired;
  timer.timer = timer_kind::step_timeout;
  timer.step = step_path{"fan/profile/tag"};
  saga.succeeded("order").journal(timer).succeeded("ship");
  saga.applied("orders", "order", operation::act).applied("orders", "ship", operation::act);
  saga.applied("profiles", "fan/profile/tag", operation::act);
  EXPECT_EQ(saga.judge().verdict(), verdict::proven);
}

TEST(judge_completed, a_success_that_came_late_must_be_there) {
  script saga{saga_status::completed};
  event late;
  late.kind = event_kind::late_answer;
  late.step = step_path{"fan/profile/tag"};
  late.op = operation::act;
  late.status = 201;
  saga.succeeded("order").unknown("fan/profile/tag").journal(late).succeeded("ship");
  saga.applied("orders", "order", operation::act).applied("orders", "ship", operation::act);
  expect_only(saga.judge(), finding_kind::effect_missing, verdict::violated);
}

TEST(judge_completed, a_refused_step_that_left_no_doubt_must_leave_nothing) {
  script saga{saga_status::completed};
  saga.succeeded("order").journal(event_kind::step_refused, "fan/profile/tag", operation::act).succeeded("ship");
  saga.applied("orders", "order", operation::act).applied("orders", "ship", operation::act);
  saga.applied("profiles", "fan/profile/tag", operation::act);
  expect_only(saga.judge(), finding_kind::effect_unexpected, verdict::violated);
}

TEST(judge_compensated, no_net_effect_is_proven) {
  auto const found = compensated().judge();
  EXPECT_EQ(found.verdict(), verdict::proven) << to_text(found);
  EXPECT_EQ(found.compensated, 1U);
}

TEST(judge_compensated, an_effect_that_stands_is_a_violation) {
  script saga{saga_status::compensated};
  saga.succeeded("order").succeeded("order", operation::compensate);  // the participant said yes and did nothing
  saga.applied("orders", "order", operation::act);
  expect_only(saga.judge(), finding_kind::effect_left, verdict::violated);
}

TEST(judge_compensated, a_late_action_that_slipped_past_its_compensation_is_a_violation) {
  script saga{saga_status::compensated};
  saga.unknown("order").succeeded("order", operation::compensate);
  EXPECT_EQ(saga.judge().verdict(), verdict::proven) << "empty compensation";
  saga.applied("orders", "order", operation::act);
  expect_only(saga.judge(), finding_kind::effect_left, verdict::violated);
}

TEST(judge_compensated, a_compensation_applied_twice_is_a_violation) {
  auto saga = compensated();
  saga.applied("orders", "order", operation::compensate);
  auto const found = saga.judge();
  expect_only(found, finding_kind::effect_twice, verdict::violated);
  EXPECT_EQ(found.compensations_twice, 1U);
  EXPECT_EQ(found.effects_twice, 0U);
}

TEST(judge_compensated, an_undo_without_its_action_is_a_violation) {
  script saga{saga_status::compensated};
  saga.unknown("order").succeeded("order", operation::compensate);
  saga.applied("orders", "order", operation::compensate);
  expect_only(saga.judge(), finding_kind::undone_without_doing, verdict::violated);
}

TEST(judge_compensated, a_success_the_participant_knows_nothing_of_is_a_violation) {
  script saga{saga_status::compensated};
  saga.succeeded("order").succeeded("order", operation::compensate);
  expect_only(saga.judge(), finding_kind::effect_missing, verdict::violated);
}

TEST(judge_compensated, a_step_without_compensation_must_have_left_nothing) {
  auto saga = compensated();
  saga.applied("orders", "ship", operation::act);
  expect_only(saga.judge(), finding_kind::effect_left, verdict::violated);
}

TEST(judge_compensated, a_skip_by_a_person_is_not_ours_to_judge) {
  script saga{saga_status::compensated};
  event skip;
  skip.kind = event_kind::operator_skip;
  skip.step = step_path{"order"};
  skip.op = operation::compensate;
  skip.text = "refunded by hand";
  saga.succeeded("order").journal(skip);
  saga.applied("orders", "order", operation::act);
  auto const found = saga.judge();
  expect_only(found, finding_kind::operator_decided, verdict::not_checkable);
  EXPECT_THAT(found.findings.front().text, HasSubstr("refunded by hand"));
  EXPECT_EQ(exit_code(found), 2);
}

TEST(judge_any, an_operation_the_definition_does_not_have_is_a_violation) {
  auto saga = completed();
  saga.applied("profiles", "order", operation::act);  // the right step at the wrong service
  expect_only(saga.judge(), finding_kind::step_unknown, verdict::violated);
  auto other = completed();
  other.applied("orders", "refund", operation::act);
  expect_only(other.judge(), finding_kind::step_unknown, verdict::violated);
  auto confirm = completed();
  confirm.applied("orders", "order", operation::confirm);
  expect_only(confirm.judge(), finding_kind::step_unknown, verdict::violated);
}

TEST(judge_any, an_operation_that_was_asked_but_not_applied_is_nothing) {
  auto saga = completed();
  saga.applied("orders", "refund", operation::act, 0);
  EXPECT_EQ(saga.judge().verdict(), verdict::proven);
}

TEST(judge_any, two_successes_of_one_operation_contradict) {
  auto saga = completed();
  saga.succeeded("order");
  expect_only(saga.judge(), finding_kind::journal_contradicts, verdict::violated);
  auto undone = compensated();
  undone.succeeded("order", operation::compensate);
  expect_only(undone.judge(), finding_kind::journal_contradicts, verdict::violated);
}

TEST(judge_any, a_service_that_was_not_read_makes_it_not_checkable) {
  script saga{saga_status::completed};
  saga.succeeded("order").succeeded("look").succeeded("fan/profile/tag").succeeded("ship");
  saga.applied("orders", "order", operation::act).applied("orders", "ship", operation::act);
  auto const found = saga.judge({"orders"});
  expect_only(found, finding_kind::source_missing, verdict::not_checkable);
  EXPECT_EQ(found.findings.front().service, "profiles");
}

TEST(judge_any, a_violation_outweighs_what_cannot_be_checked) {
  script saga{saga_status::completed};
  saga.succeeded("order").succeeded("fan/profile/tag");
  auto const found = saga.judge({"orders"});
  EXPECT_EQ(found.findings.size(), 2U);
  EXPECT_EQ(found.verdict(), verdict::violated);
  EXPECT_EQ(exit_code(found), 1);
}

TEST(judge_any, a_service_that_was_not_reached_need_not_be_read) {
  script saga{saga_status::compensated};
  saga.succeeded("order").succeeded("order", operation::compensate);
  saga.applied("orders", "order", operation::act).applied("orders", "order", operation::compensate);
  EXPECT_EQ(saga.judge({"orders"}).verdict(), verdict::proven);
}

TEST(judge_any, a_missing_definition_makes_it_not_checkable) {
  auto saga = completed();
  saga.facts().definition = nullptr;
  auto const found = saga.judge();
  expect_only(found, finding_kind::definition_missing, verdict::not_checkable);
  EXPECT_THAT(found.findings.front().text, HasSubstr("order-placed@1"));
}

TEST(judge_any, a_history_with_a_gap_makes_it_not_checkable) {
  auto gap = completed();
  gap.facts().events.erase(gap.facts().events.begin() + 2);
  expect_only(gap.judge(), finding_kind::history_incomplete, verdict::not_checkable);
  auto cut = completed();
  cut.facts().events.pop_back();
  expect_only(cut.judge(), finding_kind::history_incomplete, verdict::not_checkable);
  auto headless = completed();
  headless.facts().events.front().kind = event_kind::step_succeeded;
  expect_only(headless.judge(), finding_kind::history_incomplete, verdict::not_checkable);
  auto empty = completed();
  empty.facts().events.clear();
  expect_only(empty.judge(), finding_kind::history_incomplete, verdict::not_checkable);
}

}  // namespace
}  // namespace atone::audit::test
