// What only SQLite has: the printed statements, run as another language would run them, and the registered functions.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <map>
#include <optional>

#include <atone/participant.hpp>

#include "sqlite_place.hpp"

namespace atone::test {
namespace {

using named_values = std::map<std::string, std::string>;

// A participant in some other language: it has the printed text, and a plain SQLite library.
class plain_participant {
 public:
  explicit plain_participant(std::string const& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &database_), SQLITE_OK);
    sqlite3_busy_timeout(database_, 5'000);
    read_statements(participant::barrier_sql("sqlite"));
    script(statements_.at("table"));
  }
  ~plain_participant() { sqlite3_close(database_); }
  plain_participant(plain_participant const&) = delete;
  plain_participant& operator=(plain_participant const&) = delete;

  // A whole request by the protocol that barrier.sql explains; gives verdict and answer.
  std::pair<std::string, std::string> request(std::string const& op, std::string const& business, std::string const& answer) {
    named_values key{{":saga", "s"}, {":step", "pay"}, {":op", op}};
    script("BEGIN IMMEDIATE");
    auto found = run("look", key);
    std::string const verdict = found.at(0).value_or("");
    if (verdict == "empty") {
      run("empty", key);
      found[3] = "{}";
    }
    if (verdict == "proceed") {
      run("claim", key);
      script(business);
      key.insert({{":verdict", "done"}, {":status", "200"}, {":answer", answer}});
      run("answer", key);
      found[3] = answer;
    }
    script(verdict == "proceed" || verdict == "empty" ? "COMMIT" : "ROLLBACK");
    return {verdict, found.at(3).value_or("")};
  }

  void script(std::string const& text) {
    EXPECT_EQ(sqlite3_exec(database_, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database_) << ": " << text;
  }

 private:
  void read_statements(std::string_view text) {
    std::string_view const marker = "-- :name ";
    for (auto at = text.find(marker); at != std::string_view::npos;) {
      auto const end = text.find('\n', at);
      auto const next = text.find(marker, end);
      statements_[std::string{text.substr(at + marker.size(), end - at - marker.size())}] = std::string{text.substr(end, next - end)};
      at = next;
    }
  }

  std::vector<std::optional<std::string>> run(std::string const& name, named_values const& values) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database_, statements_.at(name).c_str(), -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(database_);
    for (int place = 1; place <= sqlite3_bind_parameter_count(statement); ++place) {
      auto const& value = values.at(sqlite3_bind_parameter_name(statement, place));
      sqlite3_bind_text(statement, place, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
    }
    std::vector<std::optional<std::string>> row;
    int code = sqlite3_step(statement);
    for (int column = 0; code == SQLITE_ROW && column < sqlite3_column_count(statement); ++column) {
      auto const* const text = reinterpret_cast<char const*>(sqlite3_column_text(statement, column));
      row.push_back(text == nullptr ? std::nullopt : std::optional<std::string>{text});
    }
    if (code == SQLITE_ROW) code = sqlite3_step(statement);
    EXPECT_EQ(code, SQLITE_DONE) << sqlite3_errmsg(database_) << ": " << name;
    sqlite3_finalize(statement);
    return row;
  }

  sqlite3* database_ = nullptr;
  std::map<std::string, std::string> statements_;
};

using answered = std::pair<std::string, std::string>;

TEST(sqlite_barrier_statements, do_what_they_say_in_any_language) {
  sqlite_place files;
  plain_participant service{files.path()};
  service.script("CREATE TABLE account (amount INTEGER); INSERT INTO account VALUES (0)");
  EXPECT_EQ(service.request("do", "UPDATE account SET amount = amount + 5", "paid"), (answered{"proceed", "paid"}));
  EXPECT_EQ(service.request("do", "UPDATE account SET amount = amount + 5", "paid again"), (answered{"duplicate", "paid"}));
  EXPECT_EQ(service.request("compensate", "UPDATE account SET amount = amount - 5", "undone"), (answered{"proceed", "undone"}));
  EXPECT_EQ(service.request("compensate", "UPDATE account SET amount = amount - 5", ""), (answered{"duplicate", "undone"}));
  EXPECT_EQ(files.ask("SELECT amount FROM account"), "0");
}

TEST(sqlite_barrier_statements, leave_a_tombstone_when_the_compensation_comes_first) {
  sqlite_place files;
  plain_participant service{files.path()};
  EXPECT_EQ(service.request("compensate", "", ""), (answered{"empty", "{}"}));
  EXPECT_EQ(files.ask("SELECT verdict FROM atone_barrier WHERE op = 'do'"), "refused");
  EXPECT_EQ(service.request("do", "", "paid"), (answered{"refused", R"({"error":"already compensated"})"}));
  EXPECT_EQ(service.request("compensate", "", ""), (answered{"duplicate", "{}"}));
}

TEST(sqlite_barrier_statements, keep_confirm_and_cancel_apart) {
  sqlite_place files;
  plain_participant service{files.path()};
  EXPECT_EQ(service.request("try", "", "held").first, "proceed");
  EXPECT_EQ(service.request("confirm", "", "taken").first, "proceed");
  EXPECT_EQ(service.request("cancel", "", ""), (answered{"refused", R"({"error":"already confirmed"})"}));
}

TEST(sqlite_barrier_statements, and_the_helper_understand_each_other) {
  sqlite_place files;
  plain_participant service{files.path()};
  EXPECT_EQ(service.request("do", "", "paid").first, "proceed");
  auto const database = participant::open_database(files.address());
  ASSERT_TRUE(database) << database.error().message;
  participant::call which;
  which.saga = "s";
  which.step = "pay";
  which.op = operation::act;
  auto const again =
      (*database)->run(which, [](participant::sql_session&) -> result<participant::answer> { return participant::answer::done("other"); });
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->verdict, participant::verdict::duplicate);
  EXPECT_EQ(again->answer.body, "paid");
}

TEST(sqlite_barrier_functions, say_the_verdict_and_store_the_answer_inside_the_callers_transaction) {
  sqlite_place files;
  auto const database = participant::open_database(files.address());
  ASSERT_TRUE(database) << database.error().message;
  ASSERT_TRUE((*database)->install_barrier());
  auto const ask = [&](std::string const& statement) {
    std::string answer;
    auto const done = (*database)->transact([&](participant::sql_session& sql) -> result<void> {
      auto const rows = sql.execute(statement, {});
      if (!rows) return rows.error();
      answer = rows->at(0).begin()->second.value_or("null");
      return {};
    });
    return done ? answer : done.error().message;
  };
  EXPECT_EQ(ask("SELECT atone_barrier('s', 'pay', 'do')"), "proceed");
  EXPECT_EQ(ask("SELECT atone_answer('s', 'pay', 'do', 0, 200, 'paid')"), "stored");
  EXPECT_EQ(ask("SELECT atone_barrier('s', 'pay', 'do')"), "duplicate");
  EXPECT_EQ(ask("SELECT CAST(answer AS TEXT) FROM atone_barrier WHERE op = 'do'"), "paid");
  // An answer is stored once, and only after the barrier let the operation proceed.
  EXPECT_NE(ask("SELECT atone_answer('s', 'pay', 'do', 0, 200, 'forged')"), "stored");
  EXPECT_NE(ask("SELECT atone_answer('s', 'other', 'do', 0, 200, 'forged')"), "stored");
  EXPECT_EQ(ask("SELECT atone_barrier('s', 'other', 'compensate')"), "empty");
  EXPECT_EQ(ask("SELECT atone_barrier('s', 'other', 'do')"), "refused");
}

TEST(sqlite_participant, a_call_from_inside_its_own_transaction_is_refused_and_not_a_deadlock) {
  sqlite_place files;
  auto const database = participant::open_database(files.address());
  ASSERT_TRUE(database) << database.error().message;
  auto const done = (*database)->transact([&](participant::sql_session&) { return (*database)->install_barrier(); });
  ASSERT_FALSE(done);
  EXPECT_EQ(name(done.error().code), name(errc::conflict));
  EXPECT_TRUE((*database)->install_barrier());
}

TEST(sqlite_participant, another_programs_transaction_is_waited_for_and_then_given_up_by_name) {
  sqlite_place files;
  auto const database = participant::open_database(files.address());
  ASSERT_TRUE(database) << database.error().message;
  ASSERT_TRUE((*database)->install_barrier());
  auto const holder = participant::open_database(files.address());
  ASSERT_TRUE(holder);
  participant::call which;
  which.saga = "s";
  which.step = "pay";
  which.op = operation::act;
  result<participant::outcome> waited = error{};
  ASSERT_TRUE((*holder)->transact([&](participant::sql_session&) -> result<void> {
    waited =
        (*database)->run(which, [](participant::sql_session&) -> result<participant::answer> { return participant::answer::done(""); });
    return {};
  }));
  ASSERT_FALSE(waited);
  EXPECT_EQ(name(waited.error().code), name(errc::serialization));
  EXPECT_TRUE(waited.error().retryable());
}

TEST(barrier_sql, is_known_by_dialect) {
  EXPECT_NE(participant::barrier_sql("sqlite").find("CREATE TABLE IF NOT EXISTS atone_barrier"), std::string_view::npos);
  EXPECT_TRUE(participant::barrier_sql("oracle").empty());
}

}  // namespace
}  // namespace atone::test
