// The `sql` step: the user's statement and the records that say so, in one transaction.
#include <atone/json.hpp>

#include "store_suite.hpp"

namespace atone::test {
namespace {

class sql_step : public store_suite {
 protected:
  void SetUp() override {
    store_suite::SetUp();
    if (IsSkipped()) return;
    place_->execute("CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL CHECK (amount >= 0), owner TEXT)");
    place_->execute("INSERT INTO account (id, amount, owner) VALUES (1, 100, 'anna'), (2, 5, 'ben')");
    EXPECT_FINE(commit(starting(1)));
  }

  result<commit_report> run(std::string text, std::string parameters) {
    sql_statement statement;
    statement.text = std::move(text);
    statement.parameters = std::move(parameters);
    auto const on_success = [&](std::string_view answer) {
      answer_ = std::string{answer};
      ++calls_;
      return recording(1, 2);
    };
    return writer_->commit_with_sql(statement, on_success, batch_number{next_});
  }

  // What was answered, as equal JSON data.
  void expect_answer(std::string const& expected) {
    auto const found = MUST(json::parse(answer_));
    EXPECT_TRUE(json::equal(found, MUST(json::parse(expected)))) << answer_ << " instead of " << expected;
  }

  void expect_nothing_written() {
    EXPECT_EQ(MUST(reader_->history(numbered(1))).size(), 1u);
    EXPECT_EQ(place_->ask("SELECT sum(amount) FROM account"), "105");
    EXPECT_EQ(place_->ask("SELECT count(*) FROM account"), "2");
  }

  std::string answer_;
  int calls_ = 0;
};

TEST_P(sql_step, statement_and_records_are_one_transaction) {
  EXPECT_FINE(run("UPDATE account SET amount = amount - :take WHERE id = :id", R"({"take": 30, "id": 1})"));
  expect_answer(R"({"rows": 1, "row": null})");
  EXPECT_EQ(place_->ask("SELECT amount FROM account WHERE id = 1"), "70");
  EXPECT_EQ(MUST(reader_->history(numbered(1))).size(), 2u);
}

TEST_P(sql_step, the_first_row_is_the_answer) {
  EXPECT_FINE(run("UPDATE account SET amount = amount + :more RETURNING id, amount, owner", R"({"more": 1})"));
  auto const answer = MUST(json::parse(answer_));
  EXPECT_EQ(answer.find("rows")->as_int64(), 2);
  auto const row = *answer.find("row");
  auto const id = row.find("id")->as_int64();
  EXPECT_EQ(row.find("amount")->as_int64(), id == 1 ? 101 : 6);
  EXPECT_EQ(row.find("owner")->as_string(), id == 1 ? "anna" : "ben");
}

TEST_P(sql_step, a_select_answers_its_rows) {
  EXPECT_FINE(run("SELECT id, owner FROM account WHERE amount > :least ORDER BY id", R"({"least": 0})"));
  expect_answer(R"({"rows": 2, "row": {"id": 1, "owner": "anna"}})");
}

TEST_P(sql_step, a_statement_that_meets_nothing_says_so) {
  EXPECT_FINE(run("DELETE FROM account WHERE id = :id", R"({"id": 77})"));
  expect_answer(R"({"rows": 0, "row": null})");
}

TEST_P(sql_step, a_refused_statement_leaves_nothing) {
  EXPECT_REFUSED(errc::bad_data, run("UPDATE account SET amount = amount - :take", R"({"take": 50})"));
  EXPECT_EQ(calls_, 0);
  expect_nothing_written();
  // The number was not used, and the writer goes on.
  EXPECT_FINE(commit(recording(1, 2)));
}

TEST_P(sql_step, mistakes_are_refused_by_name) {
  std::vector<std::pair<std::string, std::string>> const mistakes{
      {"UPDATE acount SET amount = 1", "{}"},
      {"UPDATE account SET amount = :amount", "{}"},
      {"UPDATE account SET amount = :amount", "[1]"},
      {"UPDATE account SET amount = :amount", "not json"},
      {"DELETE FROM account; DELETE FROM account", "{}"},
      {"", "{}"},
      {"COMMIT", "{}"},
      {"ROLLBACK", "{}"},
      {"SAVEPOINT here", "{}"},
  };
  for (auto const& [text, parameters] : mistakes) {
    SCOPED_TRACE(text);
    EXPECT_REFUSED(errc::bad_data, run(text, parameters));
    expect_nothing_written();
  }
  EXPECT_EQ(calls_, 0);
}

TEST_P(sql_step, records_that_are_refused_take_the_statement_with_them) {
  sql_statement statement;
  statement.text = "UPDATE account SET amount = 0";
  auto const twice = writer_->commit_with_sql(statement, [](std::string_view) { return recording(1, 1); }, batch_number{next_});
  EXPECT_REFUSED(errc::bad_data, twice);
  expect_nothing_written();
}

TEST_P(sql_step, a_repeat_runs_the_statement_once) {
  std::string const take = "UPDATE account SET amount = amount - 10 WHERE id = 1";
  auto const first = MUST(run(take, "{}"));
  auto const again = MUST(run(take, "{}"));
  EXPECT_EQ(first.database_time, again.database_time);
  EXPECT_EQ(place_->ask("SELECT amount FROM account WHERE id = 1"), "90");
  EXPECT_EQ(MUST(reader_->history(numbered(1))).size(), 2u);
}

TEST_P(sql_step, a_fenced_writer_runs_no_statement) {
  auto old = std::move(writer_);
  auto const number = next_;
  writer_ = new_writer("node-1");
  sql_statement statement;
  statement.text = "UPDATE account SET amount = 0";
  EXPECT_REFUSED(errc::fenced, old->commit_with_sql(statement, [](std::string_view) { return recording(1, 2); }, batch_number{number}));
  expect_nothing_written();
}

TEST_P(sql_step, text_parameters_keep_their_bytes_and_are_never_code) {
  EXPECT_FINE(
      run("UPDATE account SET owner = :owner WHERE id = :id", R"({"owner": "Robert'); DROP TABLE account;-- \"ä\" \\ %", "id": 1})"));
  EXPECT_EQ(place_->ask("SELECT owner FROM account WHERE id = 1"), R"(Robert'); DROP TABLE account;-- "ä" \ %)");
}

TEST_P(sql_step, a_parameter_may_stand_twice_and_null_is_null) {
  EXPECT_FINE(run("UPDATE account SET amount = :n, owner = :nobody WHERE id = :n", R"({"n": 2, "nobody": null, "unused": 5})"));
  EXPECT_EQ(place_->ask("SELECT amount FROM account WHERE id = 2"), "2");
  EXPECT_EQ(place_->ask("SELECT count(*) FROM account WHERE owner IS NULL"), "1");
}

TEST_P(sql_step, big_integers_stay_exact) {
  place_->execute("CREATE TABLE big (n BIGINT)");
  EXPECT_FINE(run("INSERT INTO big (n) VALUES (:n) RETURNING n", R"({"n": 9007199254740993})"));
  expect_answer(R"({"rows": 1, "row": {"n": 9007199254740993}})");
  EXPECT_EQ(place_->ask("SELECT n FROM big"), "9007199254740993");
}

TEST_P(store_suite, a_store_without_sql_says_so) {
  if (GetParam().runs_sql) return;
  sql_statement statement;
  statement.text = "SELECT 1";
  EXPECT_REFUSED(errc::unsupported, writer_->commit_with_sql(statement, [](std::string_view) { return journal_batch{}; }, batch_number{1}));
}

std::vector<store_factory> factories_with_sql() {
  auto all = store_factories();
  std::erase_if(all, [](store_factory const& of) { return !of.runs_sql; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(stores, sql_step, testing::ValuesIn(factories_with_sql()),
                         [](testing::TestParamInfo<store_factory> const& of) { return of.param.name; });

}  // namespace
}  // namespace atone::test
