// What the user's statement of a `sql` step fails with is the statement's, never the store's: the one writer goes on.
#include <gmock/gmock.h>

#include "postgres_batches.hpp"
#include "postgres_holding_session.hpp"

namespace atone::test {
namespace {

using testing::HasSubstr;

class postgres_sql_step : public postgres_test {
 protected:
  void SetUp() override {
    postgres_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ask("create table public.account (id int primary key, amount int)");
    ask("insert into public.account values (1, 100)");
    ask("create function public.fail(state text) returns int language plpgsql as "
        "$f$ begin raise exception 'raised on purpose' using errcode = state; end $f$");
    journal_ = open_journal();
    backend_ = ask("select backend_pid from atone.writer");
  }

  result<commit_report> run(std::string text) {
    sql_statement statement;
    statement.text = std::move(text);
    return journal_->commit_with_sql(statement, [](std::string_view) { return starting(1); }, batch_number{1});
  }

  void expect_failure(errc expected, std::string const& text) {
    SCOPED_TRACE(text);
    auto const before = std::chrono::steady_clock::now();
    auto const failed = run(text);
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds{3});
    ASSERT_FALSE(failed);
    EXPECT_EQ(name(failed.error().code), name(expected)) << failed.error().message;
    EXPECT_FALSE(failed.error().retryable());
    EXPECT_EQ(ask("select sum(amount) from public.account"), "100");
    EXPECT_EQ(rows_in("saga"), "0");
  }

  // Under the number that the statement did not use, on the connection it did not cost.
  void expect_writer_goes_on() {
    EXPECT_FINE(journal_->commit(starting(2), batch_number{1}));
    EXPECT_EQ(ask("select backend_pid from atone.writer"), backend_);
  }

  std::unique_ptr<journal> journal_;
  std::string backend_;
};

TEST_F(postgres_sql_step, what_is_wrong_with_a_statement_is_bad_data_whatever_it_is_called) {
  expect_failure(errc::bad_data, "select nosuch.f()");
  for (std::string const state : {"3F000", "3D000", "XX000", "XX001", "AT001", "AT002", "25P02", "25P03", "23505", "22012", "P0001"}) {
    expect_failure(errc::bad_data, "select fail('" + state + "')");
  }
  expect_writer_goes_on();
}

TEST_F(postgres_sql_step, what_may_pass_is_told_apart_and_not_repeated_here) {
  ask("create sequence public.tries");
  for (std::string const state :
       {"40001", "40P01", "55P03", "57014", "57P03", "53100", "53300", "58030", "08006", "08001", "25006", "28000", "HV00N"}) {
    expect_failure(errc::statement_failed, "select nextval('tries') + fail('" + state + "')");
  }
  EXPECT_EQ(ask("select last_value from public.tries"), "13");  // a sequence is not rolled back: each was tried once
  expect_writer_goes_on();
}

TEST_F(postgres_sql_step, a_statement_that_takes_too_long_is_stopped) {
  expect_failure(errc::statement_failed, "update account set amount = 0 where pg_sleep(60) is not null");
  expect_writer_goes_on();
}

TEST_F(postgres_sql_step, a_row_that_another_holds_is_not_waited_for_long) {
  holding_session holding{server().address(database_)};
  holding.run("update public.account set amount = 1");
  expect_failure(errc::statement_failed, "update account set amount = 0");
  expect_writer_goes_on();
}

TEST_F(postgres_sql_step, constraints_it_deferred_are_its_own) {
  ask("create table public.entry (account int references public.account deferrable initially deferred)");
  expect_failure(errc::bad_data, "insert into entry values (77)");
  ask("create function public.late() returns trigger language plpgsql as $f$ begin perform public.fail(tg_argv[0]); return null; end $f$");
  for (auto const& [state, expected] : {std::pair{"3F000", errc::bad_data}, std::pair{"40001", errc::statement_failed}}) {
    ask("drop trigger if exists late on public.account; create constraint trigger late after update on public.account "
        "deferrable initially deferred for each row execute function public.late('" +
        std::string{state} + "')");
    expect_failure(expected, "update account set amount = 0");
  }
  expect_writer_goes_on();
}

TEST_F(postgres_sql_step, its_limits_end_with_it) {
  ask("create table public.limits (lock text, statement text)");
  ask("create function public.note() returns trigger language plpgsql as $f$ begin insert into public.limits values "
      "(current_setting('lock_timeout'), current_setting('statement_timeout')); return null; end $f$");
  ask("create trigger note after update on public.account for each row execute function public.note()");
  ask("create trigger note after insert on atone.journal for each row execute function public.note()");
  EXPECT_FINE(run("update account set amount = 1"));
  EXPECT_EQ(ask("select string_agg(lock || ' ' || statement, ', ') from public.limits"), "300ms 1s, 700ms 4s");
}

TEST_F(postgres_sql_step, a_connection_lost_under_it_is_replaced_and_it_takes_effect_once) {
  ask("create sequence public.tries");
  EXPECT_FINE(
      run("update account set amount = amount - 10 where case when nextval('tries') = 1 "
          "then pg_terminate_backend(pg_backend_pid()) and pg_sleep(1) is not null else true end"));
  EXPECT_EQ(ask("select amount from public.account"), "90");
  EXPECT_EQ(rows_in("saga"), "1");
  EXPECT_NE(ask("select backend_pid from atone.writer"), backend_);
}

TEST_F(postgres_sql_step, the_message_is_the_servers) {
  auto const failed = run("select fail('08006')");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("raised on purpose"));
}

}  // namespace
}  // namespace atone::test
