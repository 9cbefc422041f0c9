// The barrier as other languages use it: plain SQL in the participant's own transaction.
#include <gmock/gmock.h>

#include <pqxx/pqxx>

#include <atone/participant.hpp>

#include "postgres_server.hpp"

namespace atone::test {
namespace {

class postgres_barrier_sql : public testing::Test {
 protected:
  void SetUp() override {
    ATONE_NEED_POSTGRES();
    database_ = server().make_database();
    // As printed by `atone barrier --dialect postgresql`, twice: it may be run again.
    for (int time = 0; time < 2; ++time) server().psql(std::string{participant::barrier_sql("postgresql")}, database_);
  }

  void TearDown() override {
    if (!database_.empty()) server().drop_database(database_);
  }

  static postgres_server& server() { return postgres_server::shared(); }
  std::string ask(std::string const& statements) const { return server().psql(statements, database_); }

  std::string database_;
};

TEST_F(postgres_barrier_sql, one_transaction_from_barrier_to_answer) {
  EXPECT_EQ(ask("select verdict from atone_barrier('s', 'order', 'do')"), "proceed");
  ask("select atone_answer('s', 'order', 'do', false, 201, 'made')");
  EXPECT_EQ(ask("select verdict, status, answer, refused from atone_barrier('s', 'order', 'do')"), "duplicate|201|\\x6d616465|f");
}

TEST_F(postgres_barrier_sql, a_duplicate_does_not_spoil_the_callers_transaction) {
  ask("select atone_barrier('s', 'order', 'do'); select atone_answer('s', 'order', 'do', false, 200, '')");
  pqxx::connection connection{server().address(database_)};
  pqxx::work own{connection};
  own.exec("create table mine (n int)");
  EXPECT_STREQ(own.exec1("select verdict from atone_barrier('s', 'order', 'do')")[0].c_str(), "duplicate");
  own.exec("insert into mine values (1)");
  own.commit();
  EXPECT_EQ(ask("select n from mine"), "1");
}

TEST_F(postgres_barrier_sql, a_business_that_stored_no_answer_counts_as_done) {
  ask("select atone_barrier('s', 'order', 'do')");
  EXPECT_EQ(ask("select verdict, status, convert_from(answer, 'UTF8') from atone_barrier('s', 'order', 'do')"), "duplicate|200|{}");
  EXPECT_EQ(ask("select verdict from atone_barrier('s', 'order', 'compensate')"), "proceed");
}

TEST_F(postgres_barrier_sql, an_unknown_operation_or_an_empty_saga_is_refused_by_name) {
  pqxx::connection connection{server().address(database_)};
  pqxx::nontransaction on{connection};
  for (std::string const arguments :
       {"'s', 'order', 'undo'", "'', 'order', 'do'", "null, 'order', 'do'", "'s', null, 'do'", "'s', 'order', null"}) {
    try {
      on.exec("select atone_barrier(" + arguments + ")");
      FAIL() << arguments;
    } catch (pqxx::sql_error const& refused) {
      EXPECT_EQ(refused.sqlstate(), "22023") << arguments;
      EXPECT_THAT(refused.what(), testing::HasSubstr("expected a saga, a step and one of do"));
    }
  }
}

TEST_F(postgres_barrier_sql, an_answer_without_barrier_is_refused) {
  pqxx::connection connection{server().address(database_)};
  pqxx::nontransaction on{connection};
  EXPECT_THROW(on.exec("select atone_answer('s', 'order', 'do', false, 200, '')"), pqxx::sql_error);
  on.exec("select atone_barrier('s', 'order', 'do')");
  on.exec("select atone_answer('s', 'order', 'do', false, 200, 'first')");
  EXPECT_THROW(on.exec("select atone_answer('s', 'order', 'do', false, 200, 'second')"), pqxx::sql_error);
}

TEST_F(postgres_barrier_sql, the_barrier_works_whatever_the_callers_search_path_is) {
  ask("set search_path = pg_catalog; select public.atone_barrier('s', 'order', 'do'); select public.atone_answer('s', 'order', 'do', true, "
      "409, 'no')");
  EXPECT_EQ(ask("select verdict, status, refused from atone_barrier('s', 'order', 'do')"), "duplicate|409|t");
  EXPECT_EQ(ask("select verdict from atone_barrier('s', 'order', 'compensate')"), "empty");
}

// What an audit reads: one row an operation, its verdict in words.
TEST_F(postgres_barrier_sql, the_table_shows_what_happened) {
  ask("select atone_barrier('s', 'a', 'do'); select atone_answer('s', 'a', 'do', false, 200, '')");
  ask("select atone_barrier('s', 'b', 'compensate')");
  EXPECT_EQ(ask("select step, op, verdict from atone_barrier order by step, op"), "a|do|done\nb|compensate|empty\nb|do|refused");
}

}  // namespace
}  // namespace atone::test
