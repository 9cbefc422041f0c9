// The tables beside the journal: compensation log, alerts, last outputs, operator actions, definitions.
#include <gmock/gmock.h>

#include "store_suite.hpp"

namespace atone::test {
namespace {

journal_batch compensating(compensation_entry entry) {
  journal_batch batch;
  batch.compensations.push_back(std::move(entry));
  return batch;
}

TEST_P(store_suite, a_compensation_goes_from_pending_to_success) {
  EXPECT_FINE(commit(starting(1)));
  auto entry = compensation_of(1, "order", compensation_status::pending);
  EXPECT_FINE(commit(compensating(entry)));
  EXPECT_EQ(MUST(reader_->compensations(numbered(1)))[0].status, compensation_status::pending);
  auto later = entry;
  later.status = compensation_status::success;
  later.attempts = 4;
  later.last_error = "503 once";
  later.created_at = at(50);
  later.updated_at = at(60);
  EXPECT_FINE(commit(compensating(later)));
  auto const log = MUST(reader_->compensations(numbered(1)));
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].saga, numbered(1));
  EXPECT_EQ(log[0].trace, entry.trace);
  EXPECT_EQ(log[0].step, entry.step);
  EXPECT_EQ(log[0].op, operation::compensate);
  EXPECT_EQ(log[0].status, compensation_status::success);
  EXPECT_EQ(log[0].attempts, 4u);
  EXPECT_EQ(log[0].last_error, "503 once");
  EXPECT_EQ(log[0].created_at, entry.created_at);  // when it was decided stays
  EXPECT_EQ(log[0].updated_at, at(60));
}

TEST_P(store_suite, a_compensation_that_succeeded_is_never_overwritten) {
  EXPECT_FINE(commit(starting(1)));
  EXPECT_FINE(commit(compensating(compensation_of(1, "order", compensation_status::success))));
  for (auto const status : {compensation_status::pending, compensation_status::failed, compensation_status::skipped}) {
    auto entry = compensation_of(1, "order", status);
    entry.attempts = 9;
    entry.last_error = "late";
    EXPECT_FINE(commit(compensating(entry)));
    auto const log = MUST(reader_->compensations(numbered(1)));
    ASSERT_EQ(log.size(), 1u);
    EXPECT_EQ(log[0].status, compensation_status::success);
    EXPECT_EQ(log[0].attempts, 0u);
    EXPECT_EQ(log[0].last_error, "");
  }
}

TEST_P(store_suite, a_failed_compensation_can_still_succeed) {
  EXPECT_FINE(commit(starting(1)));
  EXPECT_FINE(commit(compensating(compensation_of(1, "order", compensation_status::failed))));
  EXPECT_FINE(commit(compensating(compensation_of(1, "order", compensation_status::success))));
  EXPECT_EQ(MUST(reader_->compensations(numbered(1)))[0].status, compensation_status::success);
}

// Decided and done between two commits: both land in one batch.
TEST_P(store_suite, the_same_compensation_twice_in_one_batch_ends_with_the_last) {
  auto batch = starting(1);
  batch.compensations.push_back(compensation_of(1, "order", compensation_status::pending));
  batch.compensations.push_back(compensation_of(1, "order", compensation_status::success));
  EXPECT_FINE(commit(batch));
  auto const log = MUST(reader_->compensations(numbered(1)));
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].status, compensation_status::success);
}

TEST_P(store_suite, compensations_of_one_step_are_kept_apart_by_operation) {
  auto batch = starting(1);
  auto cancel = compensation_of(1, "order", compensation_status::pending);
  cancel.op = operation::cancel;
  cancel.trace = trace_id::of(cancel.saga, cancel.step, cancel.op);
  batch.compensations.push_back(compensation_of(1, "order", compensation_status::success));
  batch.compensations.push_back(cancel);
  EXPECT_FINE(commit(batch));
  EXPECT_EQ(MUST(reader_->compensations(numbered(1))).size(), 2u);
}

TEST_P(store_suite, alerts_are_kept_once_for_saga_step_and_kind) {
  auto batch = starting(1, 2);
  batch.alerts.push_back(alert_of(1, "slow", 1));
  auto again = alert_of(1, "slow", 2);
  again.text = "still slow";
  batch.alerts.push_back(again);
  EXPECT_FINE(commit(batch));
  journal_batch next;
  next.alerts.push_back(again);
  next.alerts.push_back(alert_of(1, "parked", 3));
  next.alerts.push_back(alert_of(2, "slow", 4));
  auto elsewhere = alert_of(1, "slow", 5);
  elsewhere.step = step_path{"order"};
  next.alerts.push_back(elsewhere);
  EXPECT_FINE(commit(next));
  auto const alerts = MUST(reader_->alerts(10));
  ASSERT_EQ(alerts.size(), 4u);
  EXPECT_EQ(alerts[0].step.text(), "order");  // newest first
  EXPECT_EQ(alerts[1].saga, numbered(2));
  EXPECT_EQ(alerts[2].kind, "parked");
  EXPECT_EQ(alerts[3].kind, "slow");
  EXPECT_EQ(alerts[3].text, "still slow");  // the newest of one batch
  EXPECT_EQ(alerts[3].raised_at, at(2));
  EXPECT_EQ(alerts[3].level, alert_level::page);
  EXPECT_EQ(MUST(reader_->alerts(2)).size(), 2u);
}

TEST_P(store_suite, an_alert_raised_again_later_is_the_one_that_people_see) {
  auto batch = starting(1, 2);
  batch.alerts.push_back(alert_of(1, "parked", 1));
  batch.alerts.push_back(alert_of(2, "parked", 2));
  EXPECT_FINE(commit(batch));
  journal_batch later;
  auto again = alert_of(1, "parked", 3);
  again.text = "parked a second time";
  again.level = alert_level::warn;
  later.alerts.push_back(again);
  EXPECT_FINE(commit(later));
  auto const alerts = MUST(reader_->alerts(10));
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(alerts[0].saga, numbered(1));  // the newest now
  EXPECT_EQ(alerts[0].text, "parked a second time");
  EXPECT_EQ(alerts[0].level, alert_level::warn);
  EXPECT_EQ(alerts[0].raised_at, at(3));
}

TEST_P(store_suite, the_last_output_is_the_newest_written) {
  auto batch = starting(1, 3);
  batch.outputs.push_back(output_of(1, "user-1", "{\"v\":1}"));
  batch.outputs.push_back(output_of(2, "user-2", "{\"v\":2}"));
  EXPECT_FINE(commit(batch));
  journal_batch next;
  next.outputs.push_back(output_of(2, "user-1", "{\"v\":3}"));
  next.outputs.push_back(output_of(3, "user-1", "{\"v\":4}"));  // two sagas of one user in one batch
  EXPECT_FINE(commit(next));
  auto const found = MUST(reader_->last_output("order-placed", step_path{"features"}, "user-1"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->output, "{\"v\":4}");
  EXPECT_EQ(found->written_by, numbered(3));
  EXPECT_EQ(found->at, at(3));
  EXPECT_EQ(found->saga_name, "order-placed");
  EXPECT_EQ(found->key, "user-1");
  EXPECT_EQ(MUST(reader_->last_output("order-placed", step_path{"features"}, "user-2"))->output, "{\"v\":2}");
  EXPECT_FALSE(MUST(reader_->last_output("order-placed", step_path{"features"}, "user-3")));
  EXPECT_FALSE(MUST(reader_->last_output("order-placed", step_path{"order"}, "user-1")));
  EXPECT_FALSE(MUST(reader_->last_output("another", step_path{"features"}, "user-1")));
}

TEST_P(store_suite, operator_actions_are_kept_in_order) {
  auto batch = starting(1, 2);
  batch.actions.push_back(action_of(1, "pause"));
  batch.actions.push_back(action_of(1, "pause"));
  batch.actions.push_back(action_of(2, "cancel"));
  EXPECT_FINE(commit(batch));
  auto refused = action_of(1, "skip");
  refused.outcome = "the step is not parked";
  journal_batch next;
  next.actions.push_back(refused);
  EXPECT_FINE(commit(next));
  auto const actions = MUST(reader_->actions(numbered(1)));
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_EQ(actions[0].action, "pause");
  EXPECT_EQ(actions[0].actor, "anna");
  EXPECT_EQ(actions[0].note, "checked with the shop");
  EXPECT_EQ(actions[0].step.text(), "order");
  EXPECT_EQ(actions[0].at, at(1));
  EXPECT_EQ(actions[2].action, "skip");
  EXPECT_EQ(actions[2].outcome, "the step is not parked");
  EXPECT_EQ(MUST(reader_->actions(numbered(2))).size(), 1u);
}

TEST_P(store_suite, definitions_are_published_once_and_never_change) {
  EXPECT_FINE(writer_->publish(definition_of("order-placed", 1, "saga: order-placed # 1")));
  EXPECT_FINE(writer_->publish(definition_of("order-placed", 1, "saga: order-placed # 1")));  // the same again
  EXPECT_REFUSED(errc::conflict, writer_->publish(definition_of("order-placed", 1, "saga: order-placed # changed")));
  EXPECT_EQ(MUST(reader_->definition("order-placed", definition_version{1}))->text, "saga: order-placed # 1");
}

TEST_P(store_suite, definitions_are_found_by_version_and_newest) {
  for (std::uint32_t const version : {1u, 10u, 2u}) {
    EXPECT_FINE(writer_->publish(definition_of("order-placed", version, "version " + std::to_string(version))));
  }
  EXPECT_FINE(writer_->publish(definition_of("a-first", 1, "x")));
  EXPECT_EQ(MUST(reader_->definition("order-placed", std::nullopt))->ref.version.value(), 10u);
  auto const second = MUST(reader_->definition("order-placed", definition_version{2}));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->text, "version 2");
  EXPECT_EQ(second->ref, definition_of("order-placed", 2, "version 2").ref);
  EXPECT_EQ(second->published_at, at(2));
  EXPECT_FALSE(MUST(reader_->definition("order-placed", definition_version{3})));
  EXPECT_FALSE(MUST(reader_->definition("order", std::nullopt)));
  std::vector<std::string> found;
  for (auto const& row : MUST(reader_->definitions())) found.push_back(row.ref.name + " " + std::to_string(row.ref.version.value()));
  EXPECT_THAT(found, testing::ElementsAre("a-first 1", "order-placed 1", "order-placed 2", "order-placed 10"));
}

}  // namespace
}  // namespace atone::test
