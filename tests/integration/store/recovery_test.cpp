// What a take-over loads: every saga that has not ended, with all of its events and compensations.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "store_suite.hpp"

namespace atone::test {
namespace {

TEST_P(store_suite, only_sagas_that_have_not_ended_are_loaded) {
  auto batch = starting(1, 7);
  std::vector<saga_status> const statuses{saga_status::running,   saga_status::compensating, saga_status::waiting, saga_status::paused,
                                          saga_status::completed, saga_status::compensated,  saga_status::parked};
  for (std::uint32_t number = 1; number <= statuses.size(); ++number) batch.changes.push_back(change_of(number, statuses[number - 1], 1));
  EXPECT_FINE(commit(batch));
  auto const open = load_open(*writer_);
  std::vector<saga_status> found;
  for (auto const& saga : open) found.push_back(saga.row.status);
  EXPECT_THAT(found, testing::UnorderedElementsAre(saga_status::running, saga_status::compensating, saga_status::waiting,
                                                   saga_status::paused, saga_status::parked));
}

TEST_P(store_suite, a_loaded_saga_has_its_row_events_and_compensations) {
  auto batch = starting_with_key(1, "order-7");
  for (std::uint32_t seq = 2; seq <= 5; ++seq) batch.records.push_back(record_of(1, seq));
  auto entry = compensation_of(1, "stock", compensation_status::failed);
  entry.attempts = 3;
  entry.last_error = "503 from 'stock'";
  batch.compensations.push_back(entry);
  batch.compensations.push_back(compensation_of(1, "order", compensation_status::success));
  EXPECT_FINE(commit(batch));
  EXPECT_FINE(commit(starting(2)));
  auto const open = load_open(*writer_);
  ASSERT_EQ(open.size(), 2u);
  auto const& first = open[0].row.id == numbered(1) ? open[0] : open[1];
  EXPECT_EQ(first.row, row_of(1, "order-7"));
  ASSERT_EQ(first.events.size(), 5u);
  for (std::uint32_t seq = 1; seq <= 5; ++seq) EXPECT_EQ(first.events[seq - 1], record_of(1, seq).event);
  ASSERT_EQ(first.compensations.size(), 2u);
  auto const stock =
      std::find_if(first.compensations.begin(), first.compensations.end(), [](auto const& one) { return one.step.text() == "stock"; });
  ASSERT_NE(stock, first.compensations.end());
  EXPECT_EQ(stock->trace, entry.trace);
  EXPECT_EQ(stock->op, operation::compensate);
  EXPECT_EQ(stock->status, compensation_status::failed);
  EXPECT_EQ(stock->attempts, 3u);
  EXPECT_EQ(stock->last_error, entry.last_error);
  EXPECT_EQ(stock->created_at, entry.created_at);
}

TEST_P(store_suite, more_sagas_than_a_chunk_are_all_loaded_once) {
  constexpr std::uint32_t count = 700;
  auto batch = starting(1, count);
  for (std::uint32_t number = 3; number <= count; number += 3) batch.changes.push_back(change_of(number, saga_status::completed, 1));
  EXPECT_FINE(commit(batch));
  std::set<saga_id> found;
  for (auto const& saga : load_open(*writer_)) {
    EXPECT_TRUE(found.insert(saga.row.id).second);
    EXPECT_EQ(saga.events.size(), 1u);
  }
  EXPECT_EQ(found.size(), count - count / 3);
  EXPECT_FALSE(found.contains(numbered(3)));
}

TEST_P(store_suite, an_empty_store_loads_nothing) {
  EXPECT_TRUE(load_open(*writer_).empty());
}

TEST_P(store_suite, everything_is_there_after_a_restart) {
  NEEDS(survives);
  auto batch = starting_with_key(1, "order-7");
  batch.records.push_back(record_of(1, 2));
  batch.changes.push_back(change_of(1, saga_status::parked, 2));
  batch.compensations.push_back(compensation_of(1, "order", compensation_status::pending));
  batch.alerts.push_back(alert_of(1, "parked"));
  batch.outputs.push_back(output_of(1, "user-1", "[1]"));
  batch.actions.push_back(action_of(1, "retry"));
  EXPECT_FINE(commit(batch));
  EXPECT_FINE(writer_->publish(definition_of("order-placed", 1, "saga: order-placed")));
  reopen();
  auto after = MUST(store_->open_journal());
  EXPECT_FINE(after->take_over(node_id{"node-1"}));
  auto const open = load_open(*after);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].row.status, saga_status::parked);
  EXPECT_EQ(open[0].events.size(), 2u);
  EXPECT_EQ(open[0].compensations.size(), 1u);
  EXPECT_EQ(MUST(reader_->alerts(10)).size(), 1u);
  EXPECT_TRUE(MUST(reader_->last_output("order-placed", step_path{"features"}, "user-1")));
  EXPECT_EQ(MUST(reader_->actions(numbered(1))).size(), 1u);
  EXPECT_EQ(MUST(reader_->definitions()).size(), 1u);
  EXPECT_EQ(MUST(after->commit(starting_with_key(2, "order-7"), batch_number{1})).losers.size(), 1u);
}

}  // namespace
}  // namespace atone::test
