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

saga_change resting_until(std::uint32_t number, std::optional<timestamp> wake_at, std::uint32_t last) {
  auto made = change_of(number, saga_status::running, last);
  made.row.wake_at = wake_at;
  return made;
}

TEST_P(store_suite, of_a_saga_that_rests_only_the_row_is_loaded) {
  EXPECT_FINE(commit(starting(1, 3)));
  journal_batch batch;
  for (std::uint32_t const number : {1U, 2U}) batch.records.push_back(record_of(number, 2));
  batch.compensations.push_back(compensation_of(1, "stock", compensation_status::pending));
  batch.changes.push_back(resting_until(1, at(77), 2));
  batch.changes.push_back(resting_until(2, wakes_never, 2));
  EXPECT_FINE(commit(batch));
  writer_ = new_writer("node-2");
  auto const open = load_open(*writer_);
  ASSERT_EQ(open.size(), 3U);
  for (auto const& one : open) {
    bool const rests = one.row.id != numbered(3);
    EXPECT_EQ(one.events.size(), rests ? 0U : 1U);
    EXPECT_THAT(one.compensations, testing::IsEmpty());
    auto const until = one.row.id == numbered(1) ? at(77) : wakes_never;
    EXPECT_EQ(one.row.wake_at, rests ? std::optional{until} : std::nullopt);
  }
}

TEST_P(store_suite, one_that_rests_is_loaded_whole_when_it_is_asked_for) {
  EXPECT_FINE(commit(starting(1, 2)));
  journal_batch batch;
  batch.records.push_back(record_of(1, 2));
  batch.compensations.push_back(compensation_of(1, "stock", compensation_status::pending));
  batch.changes.push_back(resting_until(1, at(77), 2));
  EXPECT_FINE(commit(batch));
  auto const found = MUST(reader_->load({{shard{0}, numbered(1)}, {shard{0}, numbered(2)}, {shard{0}, numbered(3)}}));
  ASSERT_EQ(found.size(), 2U);
  auto const& rested = found[0].row.id == numbered(1) ? found[0] : found[1];
  EXPECT_EQ(rested.row.wake_at, at(77));
  ASSERT_EQ(rested.events.size(), 2U);
  EXPECT_EQ(rested.events[1], record_of(1, 2).event);
  ASSERT_EQ(rested.compensations.size(), 1U);
  EXPECT_EQ(rested.compensations[0].step.text(), "stock");
  EXPECT_THAT(MUST(reader_->load({})), testing::IsEmpty());
}

TEST_P(store_suite, the_next_change_says_anew_whether_it_rests) {
  auto batch = starting(1, 2);
  batch.changes.push_back(resting_until(1, at(77), 1));  // in the batch that starts it
  EXPECT_FINE(commit(batch));
  EXPECT_EQ(MUST(reader_->find(numbered(1)))->wake_at, at(77));
  EXPECT_FALSE(MUST(reader_->find(numbered(2)))->wake_at);
  journal_batch next;
  next.changes.push_back(change_of(1, saga_status::running, 1));
  next.changes.push_back(resting_until(2, at(78), 1));
  EXPECT_FINE(commit(next));
  EXPECT_FALSE(MUST(reader_->find(numbered(1)))->wake_at);
  EXPECT_EQ(MUST(reader_->find(numbered(2)))->wake_at, at(78));
  EXPECT_EQ(load_open(*writer_).size(), 2U);
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
