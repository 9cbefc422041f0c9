// What only the SQLite store has: one process a file, its settings, damage, and how JSON values become SQLite's.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include <atone/json.hpp>

#include "sqlite_place.hpp"
#include "store_batches.hpp"
#include "store_suite.hpp"

namespace atone::test {
namespace {

class sqlite_store_test : public testing::Test {
 protected:
  void SetUp() override {
    store_ = MUST(place_.open());
    EXPECT_FINE(store_->migrate());
    writer_ = MUST(store_->open_journal());
    EXPECT_FINE(writer_->take_over(node_id{"node-1"}));
  }

  void close() {
    writer_.reset();
    store_.reset();
  }

  // The answer of a statement, or the error's message.
  std::string run(std::string text, std::string parameters) {
    sql_statement statement;
    statement.text = std::move(text);
    statement.parameters = std::move(parameters);
    std::string answered;
    auto const done = writer_->commit_with_sql(
        statement,
        [&](std::string_view answer) {
          answered = std::string{answer};
          return journal_batch{};
        },
        batch_number{next_});
    if (!done) return std::string{name(done.error().code)} + ": " + done.error().message;
    ++next_;
    return answered;
  }

  sqlite_place place_;
  std::unique_ptr<store> store_;
  std::unique_ptr<journal> writer_;
  std::uint64_t next_ = 1;
};

TEST_F(sqlite_store_test, a_second_store_in_this_process_is_refused_by_name) {
  auto const second = place_.open();
  ASSERT_FALSE(second);
  EXPECT_EQ(name(second.error().code), name(errc::conflict));
  EXPECT_NE(second.error().message.find(place_.path()), std::string::npos) << second.error().message;
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos) << second.error().message;
  close();
  EXPECT_TRUE(place_.open());
}

TEST_F(sqlite_store_test, a_second_process_is_refused_until_the_first_is_gone) {
  int ready[2];
  int go_on[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(go_on), 0);
  close();
  pid_t const child = ::fork();
  if (child == 0) {
    auto const held = place_.open();
    char byte = held ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) == 1) byte = static_cast<char>(::read(go_on[0], &byte, 1));
    ::_exit(0);
  }
  char byte = 'n';
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  auto const refused = place_.open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(name(refused.error().code), name(errc::conflict));
  EXPECT_NE(refused.error().message.find(std::to_string(child)), std::string::npos) << refused.error().message;
  ASSERT_EQ(::kill(child, SIGKILL), 0);  // however it dies, the file is free
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(place_.open());
  for (int const end : {ready[0], ready[1], go_on[0], go_on[1]}) ::close(end);
}

TEST_F(sqlite_store_test, another_path_to_the_same_file_is_the_same_file) {
  auto const link = place_.folder() / "link.db";
  std::filesystem::create_symlink(place_.path(), link);
  auto const second = open_store("sqlite:" + link.string());
  ASSERT_FALSE(second);
  EXPECT_EQ(name(second.error().code), name(errc::conflict));
}

TEST_F(sqlite_store_test, the_file_is_set_up_as_measured_best) {
  EXPECT_EQ(place_.ask("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(place_.ask("PRAGMA page_size"), "16384");
  EXPECT_EQ(writer_->shards(), 1);
  EXPECT_EQ(store_->description(), "sqlite:" + place_.path());
}

TEST_F(sqlite_store_test, a_healthy_store_has_nothing_to_say_of_itself) {
  for (auto const& warning : store_->health()) {
    // What is said of the disk depends on the machine the test runs on.
    EXPECT_TRUE(warning.find("tmpfs") != std::string::npos || warning.find("free") != std::string::npos) << warning;
  }
}

TEST_F(sqlite_store_test, a_file_that_is_no_database_is_corrupt_by_name) {
  auto const path = (place_.folder() / "letter.db").string();
  std::ofstream{path} << std::string(4'096, 'x');
  auto const opened = open_store("sqlite:" + path);
  ASSERT_FALSE(opened);
  EXPECT_EQ(name(opened.error().code), name(errc::corrupt));
  EXPECT_NE(opened.error().message.find(path), std::string::npos) << opened.error().message;
}

TEST_F(sqlite_store_test, a_damaged_page_is_found_by_health_or_named_on_reading) {
  for (std::uint32_t number = 1; number <= 200; ++number) {
    EXPECT_FINE(writer_->commit(starting(number), batch_number{next_++}));
  }
  close();
  {
    std::fstream file{place_.path(), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(3 * 16'384 + 8);
    file << std::string(12'000, '\x5a');
  }
  auto const damaged = place_.open();
  if (!damaged) {
    EXPECT_EQ(name(damaged.error().code), name(errc::corrupt));
    return;
  }
  bool told = false;
  for (auto const& warning : (*damaged)->health()) told = told || warning.find("quick_check") != std::string::npos;
  EXPECT_TRUE(told);
}

TEST_F(sqlite_store_test, a_row_that_was_edited_by_hand_is_corrupt_and_not_misread) {
  EXPECT_FINE(writer_->commit(starting(1), batch_number{1}));
  auto reader = MUST(store_->open_reader());
  place_.execute("UPDATE atone_journal SET format = 77");
  EXPECT_REFUSED(errc::corrupt, reader->history(numbered(1)));
  place_.execute("UPDATE atone_saga SET saga_id = 'not an id'");
  EXPECT_REFUSED(errc::corrupt, reader->list(saga_filter{}));
}

// Events are written several a statement, and such a statement keeps the rows before the one that is refused.
TEST_F(sqlite_store_test, a_refused_event_is_named_and_takes_its_whole_batch_along) {
  EXPECT_FINE(writer_->commit(starting(1, 20), batch_number{next_++}));
  for (std::uint32_t const culprit : {1u, 5u, 8u, 9u, 16u, 17u, 20u}) {
    journal_batch batch;
    for (std::uint32_t number = 1; number <= 20; ++number) batch.records.push_back(record_of(number, number == culprit ? 1 : 2));
    auto const refused = writer_->commit(batch, batch_number{next_});
    EXPECT_REFUSED(errc::bad_data, refused);
    auto const expected = "event 1 of saga " + numbered(culprit).text() + ": ";
    EXPECT_TRUE(refused.error().message.starts_with(expected)) << refused.error().message;
    EXPECT_EQ(place_.ask("SELECT count(*) FROM atone_journal"), "20");
  }
}

TEST_F(sqlite_store_test, any_number_of_events_is_written_whole) {
  EXPECT_FINE(writer_->commit(starting(1), batch_number{next_++}));
  std::uint32_t seq = 1;
  for (std::uint32_t count = 1; count <= 25; ++count) {
    journal_batch batch;
    for (std::uint32_t each = 0; each < count; ++each) {
      ++seq;
      batch.records.push_back(record_of(1, seq, std::string(seq, 'p')));
    }
    EXPECT_FINE(writer_->commit(batch, batch_number{next_++}));
  }
  auto const reader = MUST(store_->open_reader());
  auto const events = MUST(reader->history(numbered(1)));
  ASSERT_EQ(events.size(), seq);
  for (std::uint32_t at = 1; at < seq; ++at) EXPECT_EQ(events[at].payload, std::string(at + 1, 'p'));
}

TEST_F(sqlite_store_test, a_folder_that_is_missing_is_named) {
  auto const opened = open_store("sqlite:" + (place_.folder() / "none" / "x.db").string());
  ASSERT_FALSE(opened);
  EXPECT_EQ(name(opened.error().code), name(errc::unavailable));
  EXPECT_NE(opened.error().message.find("none/x.db"), std::string::npos) << opened.error().message;
}

TEST_F(sqlite_store_test, a_writer_that_waits_too_long_says_unavailable) {
  // Another program that holds the file's write lock for good.
  result<commit_report> refused = error{};
  auto other = MUST(store_->open_journal());
  EXPECT_FINE(other->take_over(node_id{"node-2"}));
  sql_statement statement;
  statement.text = "SELECT 1 AS one";
  EXPECT_FINE(other->commit_with_sql(
      statement,
      [&](std::string_view) {
        refused = writer_->commit(starting(1), batch_number{1});
        return journal_batch{};
      },
      batch_number{1}));
  EXPECT_REFUSED(errc::unavailable, refused);
  EXPECT_TRUE(refused.error().retryable());
}

TEST_F(sqlite_store_test, json_values_become_the_values_of_sqlite) {
  std::vector<std::pair<std::string, std::string>> const cases{
      {"1", "integer|1"},
      {"-0", "integer|0"},
      {"9223372036854775807", "integer|9223372036854775807"},
      {"-9223372036854775808", "integer|-9223372036854775808"},
      {"9223372036854775808", "text|9223372036854775808"},  // would lose digits as a real
      {"1.5", "real|1.5"},
      {"1e3", "real|1000.0"},
      {"1E400", "text|1E400"},  // no double
      {"true", "integer|1"},
      {"false", "integer|0"},
      {"null", "null|none"},
      {"\"\"", "text|"},
      {"\"12\"", "text|12"},
      {R"([1, 2 ,{"a":1.50}])", R"(text|[1, 2 ,{"a":1.50}])"},
      {R"({ "b" : 1 })", R"(text|{ "b" : 1 })"},
  };
  for (auto const& [value, expected] : cases) {
    auto const answer = run("SELECT typeof(:v) || '|' || coalesce(CAST(:v AS TEXT), 'none') AS told", "{\"v\":" + value + "}");
    auto const parsed = json::parse(answer);
    ASSERT_TRUE(parsed) << answer;
    EXPECT_EQ(parsed->find("row")->find("told")->as_string(), expected) << value;
  }
}

TEST_F(sqlite_store_test, what_a_statement_may_not_do_is_refused_by_name) {
  EXPECT_FINE(writer_->commit(starting(1), batch_number{next_++}));
  for (std::string const text : {"DELETE FROM atone_journal", "UPDATE ATONE_SAGA SET status = 5", "DROP TABLE atone_saga",
                                 "ATTACH 'x.db' AS x", "PRAGMA synchronous = OFF", "CREATE UNIQUE INDEX i ON atone_saga (status)",
                                 "ALTER TABLE atone_saga RENAME TO saga", "CREATE TABLE atone_more (x)", "BEGIN", "END", "RELEASE x",
                                 "VACUUM", "CREATE TRIGGER t AFTER INSERT ON atone_saga BEGIN DELETE FROM atone_journal; END"}) {
    auto const answer = run(text, "{}");
    EXPECT_TRUE(answer.starts_with("bad data: ")) << text << ": " << answer;
  }
  EXPECT_EQ(place_.ask("SELECT count(*) FROM atone_journal"), "1");
  EXPECT_TRUE(run("SELECT count(*) AS n FROM atone_journal", "{}").find("\"n\":1") != std::string::npos);  // reading is fine
}

TEST_F(sqlite_store_test, a_statement_without_end_is_stopped_and_the_writer_goes_on) {
  place_.execute("CREATE TABLE endless (n INTEGER)");
  std::string const without_end = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) ";
  for (std::string const& text :
       {without_end + "SELECT max(i) FROM n", "INSERT INTO endless " + without_end + "SELECT i FROM n WHERE i < 3"}) {
    auto const answer = run(text, "{}");
    EXPECT_TRUE(answer.starts_with("statement failed: ")) << answer;
    EXPECT_NE(answer.find("longer than 5000 ms"), std::string::npos) << answer;
  }
  EXPECT_EQ(place_.ask("SELECT count(*) FROM endless"), "0");
  EXPECT_FINE(writer_->commit(starting(1), batch_number{next_++}));
  EXPECT_EQ(run("SELECT 1 AS one", "{}"), R"({"rows":1,"row":{"one":1}})");
}

TEST_F(sqlite_store_test, a_statement_that_finds_no_memory_may_find_it_later) {
  sqlite3_hard_heap_limit64(64 * 1024 * 1024);
  auto const refused = run("SELECT length(hex(zeroblob(100000000))) AS n", "{}");
  sqlite3_hard_heap_limit64(0);
  EXPECT_TRUE(refused.starts_with("statement failed: ")) << refused;
  EXPECT_FINE(writer_->commit(starting(1), batch_number{next_++}));
}

TEST_F(sqlite_store_test, answers_that_json_can_not_say_are_refused) {
  EXPECT_TRUE(run("SELECT x'00ff' AS bytes", "{}").starts_with("bad data: "));
  EXPECT_TRUE(run("SELECT 9e999 AS infinite", "{}").starts_with("bad data: "));
  EXPECT_TRUE(run("SELECT 1 AS one, 2 AS one", "{}").starts_with("bad data: "));
  EXPECT_TRUE(run("SELECT @a", R"({"a":1})").starts_with("bad data: "));
}

TEST_F(sqlite_store_test, a_trailing_comment_is_no_second_statement) {
  EXPECT_EQ(run("SELECT 1 AS one; -- that is all\n /* really */ ;", "{}"), R"({"rows":1,"row":{"one":1}})");
}

}  // namespace
}  // namespace atone::test
