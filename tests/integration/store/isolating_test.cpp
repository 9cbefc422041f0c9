// One saga whose data is refused must not stop the others.
#include <gmock/gmock.h>

#include "store_suite.hpp"

namespace atone::test {
namespace {

// Every store refuses an event that is there already.
void poison(journal_batch& batch, std::uint32_t number) {
  batch.records.push_back(record_of(number, 1, "twice"));
}

TEST_P(store_suite, a_batch_that_is_fine_goes_in_as_one) {
  auto const report = MUST(commit_isolating(*writer_, starting(1, 500), batch_number{1}));
  EXPECT_EQ(report.last, batch_number{1});
  EXPECT_TRUE(report.rejected.empty());
  EXPECT_FINE(writer_->commit(starting(501), batch_number{2}));
}

TEST_P(store_suite, one_bad_saga_among_five_hundred_is_found_and_named) {
  auto batch = starting(1, 500);
  poison(batch, 377);
  auto const report = MUST(commit_isolating(*writer_, batch, batch_number{1}));
  ASSERT_EQ(report.rejected.size(), 1u);
  EXPECT_EQ(report.rejected[0].saga, numbered(377));
  EXPECT_EQ(report.rejected[0].why.code, errc::bad_data);
  EXPECT_FALSE(report.rejected[0].why.message.empty());
  EXPECT_LE(report.last.value(), 12u);  // halving, not one by one
  EXPECT_EQ(load_open(*writer_).size(), 499u);
  EXPECT_FALSE(MUST(reader_->find(numbered(377))));
  EXPECT_TRUE(MUST(reader_->history(numbered(377))).empty());
  EXPECT_FINE(writer_->commit(starting(377), batch_number{report.last.value() + 1}));
}

TEST_P(store_suite, several_bad_sagas_are_all_found_and_nobody_is_split) {
  auto batch = starting(1, 40);
  for (std::uint32_t number = 1; number <= 40; ++number) {
    batch.records.push_back(record_of(number, 2));
    batch.changes.push_back(change_of(number, saga_status::waiting, 2));
    batch.compensations.push_back(compensation_of(number, "order", compensation_status::pending));
  }
  for (std::uint32_t const number : {1u, 2u, 19u, 40u}) poison(batch, number);
  auto const report = MUST(commit_isolating(*writer_, batch, batch_number{1}));
  std::vector<saga_id> rejected;
  for (auto const& one : report.rejected) rejected.push_back(one.saga);
  EXPECT_THAT(rejected, testing::UnorderedElementsAre(numbered(1), numbered(2), numbered(19), numbered(40)));
  auto const open = load_open(*writer_);
  EXPECT_EQ(open.size(), 36u);
  for (auto const& saga : open) {
    EXPECT_EQ(saga.events.size(), 2u);
    EXPECT_EQ(saga.compensations.size(), 1u);
    EXPECT_EQ(saga.row.status, saga_status::waiting);
  }
}

TEST_P(store_suite, a_batch_of_one_bad_saga_uses_no_number) {
  auto batch = starting(1);
  poison(batch, 1);
  auto const report = MUST(commit_isolating(*writer_, batch, batch_number{1}));
  EXPECT_EQ(report.last, batch_number{0});
  ASSERT_EQ(report.rejected.size(), 1u);
  EXPECT_FINE(writer_->commit(starting(2), batch_number{1}));
}

TEST_P(store_suite, losers_are_still_named_when_a_batch_is_halved) {
  EXPECT_FINE(commit(starting_with_key(900, "taken", "first")));
  auto batch = starting(1, 8);
  batch.starts[5].row.key = business_key{"taken"};
  poison(batch, 2);
  auto const report = MUST(commit_isolating(*writer_, batch, batch_number{next_}));
  ASSERT_EQ(report.report.losers.size(), 1u);
  EXPECT_EQ(report.report.losers[0].refused, numbered(6));
  EXPECT_EQ(report.report.losers[0].existing, numbered(900));
  EXPECT_EQ(report.rejected.size(), 1u);
}

TEST_P(store_suite, a_fenced_writer_isolates_nothing) {
  auto old = std::move(writer_);
  writer_ = new_writer("node-1");
  EXPECT_REFUSED(errc::fenced, commit_isolating(*old, starting(1, 10), batch_number{1}));
  EXPECT_TRUE(load_open(*writer_).empty());
}

}  // namespace
}  // namespace atone::test
