// The fence is the last thing in the transaction, and a take-over never waits for whoever was before.
#include <gmock/gmock.h>

#include <thread>

#include "postgres/batch_encoding.hpp"
#include "postgres_batches.hpp"
#include "postgres_holding_session.hpp"

namespace atone::test {
namespace {

using testing::HasSubstr;

class postgres_fence : public postgres_test {
 protected:
  std::string address() const { return server().address(database_); }

  // Ends when the writer's backend waits for a lock: it is past its inserts.
  void wait_until_writer_waits() const {
    for (int attempt = 0; attempt < 400; ++attempt) {
      if (ask("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'atone'") != "0") return;
    }
    FAIL() << "the writer never came to its fence";
  }
};

TEST_F(postgres_fence, a_stale_writer_stopped_between_insert_and_fence_commits_nothing) {
  auto old = open_journal("node-1");
  ASSERT_TRUE(old->commit(starting(1), batch_number{1}));
  result<commit_report> stale{error{}};
  std::thread late;
  {
    holding_session stall{address()};
    stall.run("select from atone.writer for update");  // the fence waits here, the inserts are done
    late = std::thread{[&] { stale = old->commit(starting(2), batch_number{2}); }};
    wait_until_writer_waits();
    // Another becomes the owner in the same moment as the fence may go on.
    stall.run("update atone.writer set epoch = epoch + 1, node = 'node-2', backend_pid = 0");
    stall.run("commit");
  }
  late.join();
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, errc::fenced) << stale.error().message;
  EXPECT_EQ(rows_in("saga"), "1");
  EXPECT_EQ(rows_in("journal"), "1");
}

TEST_F(postgres_fence, a_fence_that_waits_is_given_up_and_repeated) {
  auto journal = open_journal();
  ASSERT_TRUE(journal->commit(starting(1), batch_number{1}));
  auto stall = std::make_unique<holding_session>(address());
  stall->run("select from atone.writer for update");
  result<commit_report> report{error{}};
  std::thread committing{[&] { report = journal->commit(starting(2), batch_number{2}); }};
  wait_until_writer_waits();
  stall->run("rollback");
  committing.join();
  EXPECT_FINE(report);
  EXPECT_EQ(rows_in("saga"), "2");
}

TEST_F(postgres_fence, take_over_does_not_wait_for_a_stopped_writers_open_transaction) {
  auto old = open_journal("node-1");
  ASSERT_TRUE(old->commit(starting(1), batch_number{1}));
  // The old writer sits inside its transaction with a claimed key and will never go on: a stopped process, as the server sees it.
  auto fresh = store_->open_journal();
  ASSERT_TRUE(fresh);
  sql_statement statement;
  statement.text = "insert into atone.saga_key (shard, saga_shard, saga_id, saga_name, business_key, body) values (" +
                   std::to_string(postgres::shard_of_key("order-placed", "k", 64)) +
                   ", 0, '00000000-0000-0000-0000-000000000001', 'order-placed', 'k', '')";
  result<commit_report> const stale = old->commit_with_sql(
      statement,
      [&](std::string_view) {
        auto const before = std::chrono::steady_clock::now();
        EXPECT_FINE((*fresh)->take_over(node_id{"node-1"}));
        auto batch = starting(2);
        batch.starts[0].row.key = business_key{"k"};
        EXPECT_FINE((*fresh)->commit(batch, batch_number{1}));
        EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds{5});
        return starting(3);
      },
      batch_number{2});
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, errc::fenced) << stale.error().message;
  EXPECT_EQ(rows_in("saga"), "2");
  EXPECT_EQ(rows_in("saga_key"), "1");
}

TEST_F(postgres_fence, take_over_ends_a_backend_that_holds_the_writers_row) {
  auto old = open_journal("node-1");
  ASSERT_TRUE(old->commit(starting(1), batch_number{1}));
  // Registered as the writer, and stopped between its fence and its commit.
  holding_session stopped{address()};
  stopped.run(
      "update atone.writer set backend_pid = pg_backend_pid(), backend_start = (select backend_start from pg_stat_activity "
      "where pid = pg_backend_pid())");
  stopped.run("commit; begin; select from atone.writer for update");
  auto fresh = store_->open_journal();
  ASSERT_TRUE(fresh);
  auto const taken = (*fresh)->take_over(node_id{"node-1"});
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(taken->value(), 2U);
  EXPECT_FINE((*fresh)->commit(starting(2), batch_number{1}));
}

TEST_F(postgres_fence, a_stale_writer_that_reconnects_does_not_end_the_new_owners_backend) {
  auto old = open_journal("node-1");
  ASSERT_TRUE(old->commit(starting(1), batch_number{1}));
  auto fresh = open_journal("node-1");
  auto const backend = ask("select backend_pid from atone.writer");
  auto const stale = old->commit(starting(2), batch_number{2});
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, errc::fenced);
  EXPECT_EQ(ask("select count(*) from pg_stat_activity where pid = " + backend), "1");
  EXPECT_FINE(fresh->commit(starting(3), batch_number{1}));
  EXPECT_EQ(ask("select backend_pid from atone.writer"), backend);  // not even a reconnect
}

TEST_F(postgres_fence, only_the_backend_that_registered_last_may_commit) {
  auto journal = open_journal();
  ASSERT_TRUE(journal->commit(starting(1), batch_number{1}));
  // Another backend under the same epoch: what a reconnect leaves behind.
  server().psql("update atone.writer set backend_pid = -1", database_);
  auto const refused = journal->commit(starting(2), batch_number{2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::fenced);
  EXPECT_EQ(rows_in("saga"), "1");
}

// 40001 raised by a trigger, at the statement or at COMMIT, for the first `times` tries: a sequence counts, since it is
// not rolled back.
class postgres_conflict : public postgres_fence {
 protected:
  void raise_40001(int times, std::string const& when) {
    ask("create sequence public.tries");
    ask("create function public.conflict() returns trigger language plpgsql as $f$ begin if nextval('public.tries') <= " +
        std::to_string(times) + " then raise exception 'injected' using errcode = '40001'; end if; return null; end $f$");
    ask("create constraint trigger conflict after insert on atone.journal " + when + " for each row execute function public.conflict()");
  }
};

TEST_F(postgres_conflict, b49_a_conflict_inside_the_transaction_repeats_the_whole_of_it) {
  auto journal = open_journal();
  raise_40001(5, "not deferrable");
  EXPECT_FINE(journal->commit(starting(1), batch_number{1}));
  EXPECT_EQ(rows_in("journal"), "1");
  EXPECT_EQ(ask("select last_value from public.tries"), "6");
}

TEST_F(postgres_conflict, b50_a_conflict_at_commit_repeats_the_whole_transaction_once_written) {
  auto journal = open_journal();
  raise_40001(3, "deferrable initially deferred");
  EXPECT_FINE(journal->commit(starting(1), batch_number{1}));
  EXPECT_EQ(rows_in("saga"), "1");
  EXPECT_EQ(rows_in("journal"), "1");
  EXPECT_EQ(ask("select last_value from public.tries"), "4");
}

TEST_F(postgres_conflict, b49_a_conflict_that_does_not_end_is_given_back_to_the_caller_in_time) {
  auto journal = open_journal();
  raise_40001(1'000'000, "not deferrable");
  auto const given_up = journal->commit(starting(1), batch_number{1});
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code, errc::unavailable);
  EXPECT_TRUE(given_up.error().retryable());
  EXPECT_THAT(given_up.error().message, HasSubstr("40001"));
  ask("drop trigger conflict on atone.journal");
  EXPECT_FINE(journal->commit(starting(1), batch_number{1}));
}

TEST_F(postgres_conflict, b50_a_conflict_of_the_records_of_a_sql_step_runs_its_statement_once_in_effect) {
  auto journal = open_journal();
  ask("create table public.account (id int primary key, amount int)");
  ask("insert into public.account values (1, 100)");
  raise_40001(3, "deferrable initially deferred");
  sql_statement statement;
  statement.text = "update account set amount = amount - 10 where id = 1";
  EXPECT_FINE(journal->commit_with_sql(statement, [](std::string_view) { return starting(1); }, batch_number{1}));
  EXPECT_EQ(ask("select amount from public.account"), "90");
  EXPECT_EQ(rows_in("journal"), "1");
}

}  // namespace
}  // namespace atone::test
