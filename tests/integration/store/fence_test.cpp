// Who may write: epochs, batch numbers, repeats, and that nobody reads what was not committed.
#include <algorithm>
#include <thread>

#include "store_suite.hpp"

namespace atone::test {
namespace {

TEST_P(store_suite, epochs_rise_with_each_take_over) {
  auto const second = MUST(writer_->take_over(node_id{"node-1"}));
  auto other = MUST(store_->open_journal());
  auto const third = MUST(other->take_over(node_id{"node-1"}));
  EXPECT_GT(second.value(), 0u);
  EXPECT_GT(third, second);
}

TEST_P(store_suite, a_journal_that_never_took_over_can_not_write) {
  auto other = MUST(store_->open_journal());
  EXPECT_REFUSED(errc::fenced, other->commit(starting(1), batch_number{1}));
  EXPECT_FALSE(MUST(reader_->find(numbered(1))));
}

TEST_P(store_suite, after_a_take_over_the_old_writer_is_fenced_and_leaves_nothing) {
  EXPECT_FINE(commit(starting(1)));
  auto old = std::move(writer_);
  writer_ = new_writer("node-1");
  auto stale = starting_with_key(2, "order-7");
  stale.compensations.push_back(compensation_of(1, "order", compensation_status::pending));
  EXPECT_REFUSED(errc::fenced, old->commit(stale, batch_number{2}));
  EXPECT_FALSE(MUST(reader_->find(numbered(2))));
  EXPECT_TRUE(MUST(reader_->compensations(numbered(1))).empty());
  // Nor is the key taken: the new writer gets it.
  EXPECT_TRUE(MUST(commit(starting_with_key(3, "order-7"))).losers.empty());
  EXPECT_REFUSED(errc::fenced, old->commit(journal_batch{}, batch_number{2}));
}

TEST_P(store_suite, a_repeat_by_the_old_writer_is_fenced_too) {
  EXPECT_FINE(writer_->commit(starting(1), batch_number{1}));
  auto old = std::move(writer_);
  writer_ = new_writer("node-1");
  EXPECT_REFUSED(errc::fenced, old->commit(starting(1), batch_number{1}));
}

TEST_P(store_suite, the_old_writer_may_take_over_again) {
  auto old = std::move(writer_);
  writer_ = new_writer("node-1");
  EXPECT_FINE(old->take_over(node_id{"node-1"}));
  EXPECT_FINE(old->commit(starting(1), batch_number{1}));
  EXPECT_REFUSED(errc::fenced, commit(starting(2)));
}

TEST_P(store_suite, a_batch_number_that_is_repeated_takes_effect_once) {
  auto const batch = starting(1);
  auto const first = MUST(writer_->commit(batch, batch_number{1}));
  auto const again = MUST(writer_->commit(batch, batch_number{1}));
  EXPECT_EQ(first.database_time, again.database_time);
  EXPECT_EQ(MUST(reader_->history(numbered(1))).size(), 1u);
  EXPECT_FINE(writer_->commit(recording(1, 2), batch_number{2}));
}

TEST_P(store_suite, a_repeat_answers_the_losers_of_the_first_time) {
  EXPECT_FINE(writer_->commit(starting_with_key(1, "a", "body of a"), batch_number{1}));
  auto batch = starting_with_key(2, "a");
  for (std::uint32_t number : {3u, 4u}) {
    auto const more = starting_with_key(number, "b", "body of b");
    batch.starts.push_back(more.starts[0]);
    batch.records.push_back(more.records[0]);
  }
  auto const first = MUST(writer_->commit(batch, batch_number{2}));
  auto const again = MUST(writer_->commit(batch, batch_number{2}));
  ASSERT_EQ(first.losers.size(), 2u);
  ASSERT_EQ(again.losers.size(), 2u);
  for (auto const& report : {first, again}) {
    auto losers = report.losers;
    std::sort(losers.begin(), losers.end(), [](auto const& left, auto const& right) { return left.refused < right.refused; });
    EXPECT_EQ(losers[0].refused, numbered(2));
    EXPECT_EQ(losers[0].existing, numbered(1));
    EXPECT_EQ(losers[0].body, content_hash::of("body of a"));
    EXPECT_EQ(losers[1].refused, numbered(4));
    EXPECT_EQ(losers[1].existing, numbered(3));
    EXPECT_EQ(losers[1].body, content_hash::of("body of b"));
  }
  EXPECT_TRUE(MUST(reader_->find(numbered(3))));
}

TEST_P(store_suite, numbers_that_go_back_or_leap_are_refused) {
  EXPECT_FINE(writer_->commit(starting(1), batch_number{1}));
  EXPECT_FINE(writer_->commit(starting(2), batch_number{2}));
  EXPECT_REFUSED(errc::invalid_argument, writer_->commit(starting(3), batch_number{1}));
  EXPECT_REFUSED(errc::invalid_argument, writer_->commit(starting(3), batch_number{4}));
  EXPECT_FALSE(MUST(reader_->find(numbered(3))));
  EXPECT_FINE(writer_->commit(starting(3), batch_number{3}));
}

TEST_P(store_suite, a_refused_number_can_be_used_again) {
  EXPECT_REFUSED(errc::bad_data, writer_->commit(recording(1, 0), batch_number{1}));
  EXPECT_FINE(writer_->commit(starting(1), batch_number{1}));
}

TEST_P(store_suite, numbers_begin_again_after_a_take_over) {
  EXPECT_FINE(commit(starting(1)));
  EXPECT_FINE(commit(starting(2)));
  EXPECT_FINE(writer_->take_over(node_id{"node-1"}));
  EXPECT_FINE(writer_->commit(starting(3), batch_number{1}));
}

TEST_P(store_suite, outcome_is_known_after_a_restart) {
  NEEDS(survives);
  auto batch = starting_with_key(1, "order-7");
  batch.records.push_back(record_of(1, 2));
  EXPECT_FINE(commit(batch));
  reopen();
  EXPECT_EQ(MUST(reader_->find_by_key("order-placed", business_key{"order-7"}))->id, numbered(1));
  EXPECT_EQ(MUST(reader_->history(numbered(1))).size(), 2u);
  auto const before_restart = std::move(writer_);
  writer_ = new_writer("node-1");
  EXPECT_FINE(commit(recording(1, 3)));
}

TEST_P(store_suite, epochs_rise_over_a_restart) {
  NEEDS(survives);
  auto const before = MUST(writer_->take_over(node_id{"node-1"}));
  reopen();
  auto again = MUST(store_->open_journal());
  EXPECT_GT(MUST(again->take_over(node_id{"node-1"})), before);
}

TEST_P(store_suite, a_reader_sees_only_what_was_committed) {
  NEEDS(runs_sql);
  place_->execute("CREATE TABLE counter (n INTEGER)");
  sql_statement statement;
  statement.text = "INSERT INTO counter (n) VALUES (1)";
  auto const done = writer_->commit_with_sql(
      statement,
      [&](std::string_view) {
        // Inside the transaction: the statement has run, nothing is committed.
        EXPECT_FALSE(MUST(reader_->find(numbered(1))));
        EXPECT_EQ(place_->ask("SELECT count(*) FROM counter"), "0");
        return starting(1);
      },
      batch_number{1});
  EXPECT_FINE(done);
  EXPECT_TRUE(MUST(reader_->find(numbered(1))));
  EXPECT_EQ(place_->ask("SELECT count(*) FROM counter"), "1");
}

// A take-over that begins while a transaction is open: either it waits for the commit, or the commit is refused. In both
// cases the statement and the records agree, and the old writer is out.
TEST_P(store_suite, a_take_over_in_the_middle_of_a_transaction_leaves_nothing_half) {
  NEEDS(runs_sql);
  place_->execute("CREATE TABLE counter (n INTEGER)");
  auto other = MUST(store_->open_journal());
  sql_statement statement;
  statement.text = "INSERT INTO counter (n) VALUES (1)";
  std::thread taking;
  result<epoch> taken = error{};
  auto const done = writer_->commit_with_sql(
      statement,
      [&](std::string_view) {
        // The take-over may end this backend: then the transaction is repeated.
        if (!taking.joinable()) taking = std::thread{[&] { taken = other->take_over(node_id{"node-1"}); }};
        return starting(1);
      },
      batch_number{1});
  taking.join();
  EXPECT_FINE(taken);
  bool const committed = MUST(reader_->find(numbered(1))).has_value();
  EXPECT_EQ(done.has_value(), committed);
  EXPECT_EQ(place_->ask("SELECT count(*) FROM counter"), committed ? "1" : "0");
  EXPECT_REFUSED(errc::fenced, writer_->commit(starting(2), batch_number{done ? 2u : 1u}));
  EXPECT_FALSE(MUST(reader_->find(numbered(2))));
}

TEST_P(store_suite, readers_read_while_a_writer_writes) {
  std::thread writing{[&] {
    for (std::uint32_t number = 1; number <= 30; ++number) EXPECT_FINE(commit(starting(number)));
  }};
  auto own = MUST(store_->open_reader());
  std::size_t seen = 0;
  for (int round = 0; round < 50; ++round) {
    auto const page = MUST(own->list(saga_filter{}));
    EXPECT_GE(page.size(), seen);  // committed stays committed
    seen = page.size();
    for (auto const& row : page) EXPECT_EQ(MUST(own->history(row.id)).size(), 1u);
  }
  writing.join();
  EXPECT_EQ(MUST(own->list(saga_filter{})).size(), 30u);
}

}  // namespace
}  // namespace atone::test
