// Statements of a participant: parameters, rows, errors; and which databases can be opened.
#include <gmock/gmock.h>

#include "barrier_suite.hpp"

namespace atone::test {
namespace {

TEST_P(barrier_suite, parameters_are_bound_by_place_and_rows_come_as_text) {
  expect_fine(database_->transact([](participant::sql_session& sql) -> result<void> {
    auto made = sql.script("CREATE TABLE note (id INTEGER, words TEXT, more TEXT)");
    if (!made) return made;
    std::string const words = "it's \"quoted\" \\ % ; DROP TABLE note; -- ä";
    auto put =
        sql.execute("INSERT INTO note (id, words, more) VALUES (CAST($2 AS INTEGER), $1, $3)", {words, std::string{"7"}, std::nullopt});
    if (!put) return put.error();
    EXPECT_TRUE(put->empty());
    auto rows = sql.execute("SELECT id, words, more, words AS again FROM note WHERE words = $1", {words});
    if (!rows) return rows.error();
    EXPECT_EQ(rows->size(), 1u);
    EXPECT_EQ(rows->at(0).at("id"), "7");
    EXPECT_EQ(rows->at(0).at("words"), words);
    EXPECT_EQ(rows->at(0).at("again"), words);
    EXPECT_EQ(rows->at(0).at("more"), std::nullopt);
    return {};
  }));
}

TEST_P(barrier_suite, many_rows_come_in_order) {
  expect_fine(database_->transact([](participant::sql_session& sql) -> result<void> {
    for (int number = 2; number <= 9; ++number) {
      auto put = sql.execute("INSERT INTO account (id, amount) VALUES (CAST($1 AS INTEGER), 3)", {std::to_string(number)});
      if (!put) return put.error();
    }
    auto rows = sql.execute("SELECT id FROM account ORDER BY id DESC", {});
    if (!rows) return rows.error();
    EXPECT_EQ(rows->size(), 9u);
    EXPECT_EQ(rows->front().at("id"), "9");
    EXPECT_EQ(rows->back().at("id"), "1");
    return {};
  }));
}

TEST_P(barrier_suite, a_transaction_with_an_error_leaves_nothing) {
  auto const failed = database_->transact([](participant::sql_session& sql) -> result<void> {
    auto put = sql.execute("UPDATE account SET amount = 9", {});
    if (!put) return put.error();
    return error{errc::internal, "changed my mind"};
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "changed my mind");
  EXPECT_EQ(amount(), 0);
}

TEST_P(barrier_suite, data_the_database_refuses_is_bad_data) {
  auto const twice = database_->transact([](participant::sql_session& sql) -> result<void> {
    auto put = sql.execute("INSERT INTO account (id, amount) VALUES (1, 0)", {});
    if (!put) return put.error();
    return {};
  });
  ASSERT_FALSE(twice);
  EXPECT_EQ(name(twice.error().code), name(errc::bad_data));
}

TEST_P(barrier_suite, missing_parameters_are_named) {
  auto const missing = database_->transact([](participant::sql_session& sql) -> result<void> {
    auto put = sql.execute("UPDATE account SET amount = CAST($2 AS INTEGER)", {std::string{"1"}});
    if (!put) return put.error();
    return {};
  });
  ASSERT_FALSE(missing);
  EXPECT_EQ(amount(), 0);
}

TEST(open_database, refuses_what_is_no_database_of_a_participant) {
  EXPECT_EQ(participant::open_database("memory:").error().code, errc::unsupported);
  EXPECT_EQ(participant::open_database("mysql://host/db").error().code, errc::invalid_argument);
  EXPECT_EQ(participant::open_database("sqlite:").error().code, errc::invalid_argument);
  EXPECT_EQ(participant::open_database("sqlite::memory:").error().code, errc::invalid_argument);
  EXPECT_EQ(participant::open_database("sqlite:/no/such/folder/x.db").error().code, errc::unavailable);
}

TEST(verdicts, have_words) {
  EXPECT_EQ(participant::name(verdict::proceed), "proceed");
  EXPECT_EQ(participant::name(verdict::duplicate), "duplicate");
  EXPECT_EQ(participant::name(verdict::empty), "empty");
  EXPECT_EQ(participant::name(verdict::refused), "refused");
}

}  // namespace
}  // namespace atone::test
