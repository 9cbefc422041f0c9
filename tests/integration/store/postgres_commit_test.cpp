// The commit path on PostgreSQL: one call, bytes kept, keys, numbers, the fence.
#include <gmock/gmock.h>

#include <pqxx/pqxx>

#include "postgres_batches.hpp"

namespace atone::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class postgres_commit : public postgres_test {};

TEST_F(postgres_commit, writes_a_batch_and_reads_it_back) {
  auto journal = open_journal();
  auto batch = starting(7);
  batch.starts[0].row.key = business_key{"order 42 ⟂"};
  auto const report = journal->commit(batch, batch_number{1});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->losers, IsEmpty());

  auto reader = open_reader();
  auto const found = reader->find(numbered_saga(7));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(**found, batch.starts[0].row);
  auto const by_key = reader->find_by_key("order-placed", business_key{"order 42 ⟂"});
  ASSERT_TRUE(by_key && *by_key);
  EXPECT_EQ((*by_key)->id, numbered_saga(7));
  auto const history = reader->history(numbered_saga(7));
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_THAT(*history, ElementsAre(batch.records[0].event));
}

TEST_F(postgres_commit, keeps_every_byte_of_a_payload) {
  auto journal = open_journal();
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  auto batch = starting(1);
  batch.records[0].event.payload = every_byte;
  auto change = change_of(1, saga_status::completed, 2);
  change.row.output = R"({"a":-0,"b":1E400,"c":"\u0000"})";
  batch.changes.push_back(change);
  batch.records.push_back(record_of(1, 2, std::string(200'000, '\0')));
  ASSERT_TRUE(journal->commit(batch, batch_number{1}));

  auto reader = open_reader();
  auto const history = reader->history(numbered_saga(1));
  ASSERT_TRUE(history);
  ASSERT_EQ(history->size(), 2U);
  EXPECT_EQ((*history)[0].payload, every_byte);
  EXPECT_EQ((*history)[1].payload, std::string(200'000, '\0'));
  EXPECT_EQ((**reader->find(numbered_saga(1))).output, change.row.output);
}

TEST_F(postgres_commit, one_batch_is_one_transaction_and_one_call) {
  auto journal = open_journal();
  ASSERT_TRUE(journal->commit(starting(1'000), batch_number{1}));  // prepares the call
  EXPECT_FINE(journal->commit(starting(1, 256), batch_number{2}));
  EXPECT_EQ(ask("select count(distinct xmin::text) from atone.journal where seq = 1"), "2");
}

TEST_F(postgres_commit, the_same_number_again_writes_nothing_and_reports_the_same) {
  auto journal = open_journal();
  auto first = starting(1);
  first.starts[0].row.key = business_key{"k"};
  ASSERT_TRUE(journal->commit(first, batch_number{1}));
  auto second = starting(2);
  second.starts[0].row.key = business_key{"k"};
  auto const report = journal->commit(second, batch_number{2});
  auto const repeated = journal->commit(second, batch_number{2});
  ASSERT_TRUE(report && repeated);
  ASSERT_EQ(report->losers.size(), 1U);
  ASSERT_EQ(repeated->losers.size(), 1U);
  EXPECT_EQ(repeated->losers[0].refused, numbered_saga(2));
  EXPECT_EQ(repeated->losers[0].existing, numbered_saga(1));
  EXPECT_EQ(repeated->losers[0].body, first.starts[0].body);
  EXPECT_EQ(repeated->database_time, report->database_time);
  EXPECT_EQ(rows_in("saga"), "1");
  EXPECT_EQ(rows_in("journal"), "1");
}

TEST_F(postgres_commit, a_number_out_of_turn_is_refused) {
  auto journal = open_journal();
  ASSERT_TRUE(journal->commit(starting(1), batch_number{1}));
  auto const skipped = journal->commit(starting(2), batch_number{3});
  ASSERT_FALSE(skipped);
  EXPECT_EQ(skipped.error().code, errc::invalid_argument);
  EXPECT_EQ(rows_in("saga"), "1");
}

TEST_F(postgres_commit, a_loser_leaves_with_everything_it_brought) {
  auto journal = open_journal();
  auto batch = starting(1, 3);
  batch.starts[0].row.key = business_key{"same"};
  batch.starts[1].row.key = business_key{"same"};
  batch.records.push_back(record_of(2, 2));
  batch.changes.push_back(change_of(2, saga_status::completed, 2));
  alert_row alert;
  alert.saga = numbered_saga(2);
  alert.kind = "slow";
  batch.alerts.push_back(alert);
  auto const report = journal->commit(batch, batch_number{1});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->losers.size(), 1U);
  EXPECT_EQ(report->losers[0].refused, numbered_saga(2));
  EXPECT_EQ(report->losers[0].existing, numbered_saga(1));
  EXPECT_EQ(rows_in("saga"), "2");
  EXPECT_EQ(rows_in("journal"), "2");
  EXPECT_EQ(rows_in("alert"), "0");
}

TEST_F(postgres_commit, data_the_server_refuses_is_bad_data_and_nothing_of_the_batch_stays) {
  auto journal = open_journal();
  auto batch = starting(1, 2);
  batch.records[1].event.text = std::string{"zero\0byte", 9};
  auto const refused = journal->commit(batch, batch_number{1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::bad_data);
  EXPECT_THAT(refused.error().message, HasSubstr("SQLSTATE 22021"));
  EXPECT_EQ(rows_in("saga"), "0");
  EXPECT_FINE(journal->commit(starting(1), batch_number{1}));
}

TEST_F(postgres_commit, isolating_parks_only_the_culprit) {
  auto journal = open_journal();
  auto batch = starting(1, 33);
  batch.records[17].event.actor = "\xC3\x28";  // not UTF-8
  auto const report = commit_isolating(*journal, batch, batch_number{1});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->rejected.size(), 1U);
  EXPECT_EQ(report->rejected[0].saga, numbered_saga(18));
  EXPECT_EQ(rows_in("saga"), "32");
  EXPECT_EQ(ask("select batch_number from atone.writer"), std::to_string(report->last.value()));
}

TEST_F(postgres_commit, a_shard_the_store_lacks_is_refused) {
  auto journal = open_journal();
  EXPECT_EQ(journal->shards(), 64);
  auto batch = starting(1);
  batch.records[0].home = shard{64};
  auto const refused = journal->commit(batch, batch_number{1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::bad_data);
  EXPECT_THAT(refused.error().message, HasSubstr("0 to 63"));
}

TEST_F(postgres_commit, a_success_in_the_compensation_log_is_never_overwritten) {
  auto journal = open_journal();
  ASSERT_TRUE(journal->commit(starting(1), batch_number{1}));
  compensation_entry entry;
  entry.home = home_of(1);
  entry.saga = numbered_saga(1);
  entry.step = step_path{"order"};
  entry.trace = trace_id::of(entry.saga, entry.step, entry.op);
  journal_batch both;  // pending and its success in one batch
  both.compensations.push_back(entry);
  entry.status = compensation_status::success;
  entry.attempts = 2;
  both.compensations.push_back(entry);
  ASSERT_TRUE(journal->commit(both, batch_number{2}));
  entry.status = compensation_status::failed;
  journal_batch late;
  late.compensations.push_back(entry);
  ASSERT_TRUE(journal->commit(late, batch_number{3}));
  auto const found = open_reader()->compensations(numbered_saga(1));
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ((*found)[0].status, compensation_status::success);
  EXPECT_EQ((*found)[0].attempts, 2U);
  EXPECT_EQ(ask("select status || ' ' || length(trace_id) from atone.compensation_log"), "success 32");
}

TEST_F(postgres_commit, a_commit_is_synchronous_whatever_the_database_says) {
  server().psql("alter database " + database_ + " set synchronous_commit = off");
  server().psql("alter database " + database_ + " set default_transaction_isolation = 'serializable'");
  auto journal = open_journal();
  // Asked on a connection that has looked around before: what tidying up a new one does would be written after the commit.
  pqxx::connection looking{server().address(database_)};
  pqxx::nontransaction on{looking};
  auto const all_on_disk = [&] { return on.exec1("select pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()")[0].as<bool>(); };
  (void)all_on_disk();
  EXPECT_FINE(journal->commit(starting(1), batch_number{1}));
  EXPECT_TRUE(all_on_disk());
}

TEST_F(postgres_commit, take_over_fences_whoever_wrote_before) {
  auto old = open_journal("node-1");
  ASSERT_TRUE(old->commit(starting(1), batch_number{1}));
  auto fresh = open_journal("node-1");
  auto const stale = old->commit(starting(2), batch_number{2});
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, errc::fenced);
  EXPECT_FINE(fresh->commit(starting(3), batch_number{1}));
  EXPECT_EQ(rows_in("saga"), "2");
  EXPECT_EQ(ask("select node || ' ' || epoch from atone.writer"), "node-1 2");
}

}  // namespace
}  // namespace atone::test
