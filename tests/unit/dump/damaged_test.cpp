// Dumps that are not whole, or are something else: each is refused with its line and what was expected, and none is taken for a journal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include <atone/journal_dump.hpp>

#include "dump/copy_text.hpp"

namespace atone {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string const saga = "01930000-0000-0000-0000-00000000002a";
std::string const hash = "\\\\x" + std::string(64, 'a');
std::string const time = "2026-01-01 00:00:00+00";

std::string const event_columns =
    "at, random, retry_after, seq, cause, attempt, http_status, shard, kind, operation, sureness, timer, format, saga_id, step, note, "
    "actor, payload";

std::string event_line(int seq) {
  return time + "\t-1\t0\t" + std::to_string(seq) + '\t' + std::to_string(seq - 1) + "\t0\t0\t3\t" + (seq == 1 ? "1" : "2") +
         "\t0\t0\t0\t1\t" + saga + "\tfan/tag\tnote\\twith tab\t\t\\\\x7b7d\n";
}

std::string block(std::string const& table, std::string const& columns, std::string const& rows) {
  return "COPY atone." + table + " (" + columns + ") FROM stdin;\n" + rows + "\\.\n\n\n";
}

// As pg_dump has them: by name, with what else there is between.
struct dump_text {
  std::string begin = "--\n-- PostgreSQL database dump\n--\n\nSET client_encoding = 'UTF8';\n\n";
  std::string definitions =
      block("definition", "name, version, hash, text, published_at", "one\t1\t" + hash + "\tsaga: one\\nversion: 1\\n\t" + time + "\n");
  std::string deletions = block("deletion", "shard, sagas, newest, last_at", "3\t7\t01920000-0000-0000-0000-000000000001\t" + time + "\n");
  std::string journal = block("journal", event_columns, event_line(2) + event_line(1));
  std::string migrations = block("migration", "number, name, applied_at", "1\ta\t" + time + "\n7\tb\t" + time + "\n");
  std::string other = "COPY public.other (\"Some \"\"name\"\"\", x) FROM stdin;\nCOPY atone.saga (x) FROM stdin;\t1\n\\.\n\n";
  std::string sagas =
      block("saga",
            "shard, status, version, saga_id, crashes, last_seq, started_at, updated_at, ended_at, definition, "
            "definition_hash, business_key, cause, output, wake_at",
            "3\t5\t1\t" + saga + "\t0\t2\t" + time + "\t" + time + "\t" + time + "\tone\t" + hash + "\tkey\t\t\\\\x\t\\N\n");
  std::string end = "--\n-- PostgreSQL database dump complete\n--\n\n";

  std::string all() const { return begin + definitions + deletions + journal + migrations + other + sagas + end; }
};

result<std::unique_ptr<journal_dump>> read(std::string const& text) {
  std::istringstream from{text};
  return journal_dump::read(from, "day.sql", testing::TempDir());
}

std::string why(std::string const& text) {
  auto const came = read(text);
  EXPECT_FALSE(came.has_value());
  if (came) return {};
  EXPECT_EQ(came.error().code, errc::corrupt) << came.error().message;
  return came.error().message;
}

std::string replaced(std::string text, std::string const& what, std::string const& with) {
  auto const at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

TEST(dump, a_whole_one_is_read) {
  auto const came = read(dump_text{}.all());
  ASSERT_TRUE(came.has_value()) << came.error().message;
  auto const& dump = **came;
  ASSERT_EQ(dump.sagas().size(), 1U);
  auto const& row = dump.sagas().front();
  EXPECT_EQ(row.status, saga_status::completed);
  EXPECT_EQ(row.last.value(), 2U);
  EXPECT_EQ(row.wake_at, std::nullopt);
  EXPECT_EQ(dump.find(row.id), &row);
  EXPECT_EQ(dump.find(saga_id{}), nullptr);
  auto const events = dump.history(row.id);
  ASSERT_EQ(events->size(), 2U);
  EXPECT_EQ(events->front().kind, event_kind::started) << "in order, though the dump has them otherwise";
  EXPECT_EQ(events->front().payload, "{}");
  EXPECT_EQ(events->front().text, "note\twith tab");
  EXPECT_EQ(events->front().random, ~std::uint64_t{0});
  ASSERT_NE(dump.definition("one", definition_version{1}), nullptr);
  EXPECT_EQ(dump.definition("one", definition_version{1})->text, "saga: one\nversion: 1\n");
  EXPECT_EQ(dump.definition("one", definition_version{2}), nullptr);
  EXPECT_EQ(dump.deletions().sagas, 7U);
}

TEST(dump, a_saga_that_rests_says_until_when) {
  auto const came = read(replaced(dump_text{}.all(), "\t\\\\x\t\\N\n", "\t\\\\x\t9999-12-31 23:59:59+00\n"));
  ASSERT_TRUE(came.has_value()) << came.error().message;
  EXPECT_EQ((*came)->sagas().front().wake_at, wakes_never);
}

// The promise: whatever is missing at the end, nothing is taken for a whole journal.
TEST(dump, cut_off_anywhere_it_is_refused) {
  auto const whole = dump_text{}.all();
  auto const last_line = whole.rfind(" complete\n") + std::string_view{" complete\n"}.size();
  for (std::size_t length = 0; length < last_line; ++length) {
    auto const message = why(whole.substr(0, length));
    ASSERT_THAT(message, AllOf(HasSubstr("day.sql:"), HasSubstr("expected"))) << length;
  }
}

TEST(dump, the_place_of_the_cut_is_told) {
  auto const whole = dump_text{}.all();
  EXPECT_THAT(why(whole.substr(0, whole.find("\tfan/tag"))), HasSubstr("cut off in the rows of atone.journal; expected \\."));
  EXPECT_THAT(why(whole.substr(0, whole.find("\\.\n", whole.find("COPY public")))), HasSubstr("cut off in the rows of public.other"));
  EXPECT_THAT(why(whole.substr(0, whole.find("-- PostgreSQL database dump complete"))), HasSubstr("cut off; expected '-- PostgreSQL"));
}

TEST(dump, a_table_that_is_not_there_is_named) {
  for (auto const& [name, member] :
       {std::pair{"definition", &dump_text::definitions}, std::pair{"deletion", &dump_text::deletions},
        std::pair{"journal", &dump_text::journal}, std::pair{"migration", &dump_text::migrations}, std::pair{"saga", &dump_text::sagas}}) {
    dump_text without;
    without.*member = replaced(without.*member, "COPY atone.", "COPY elsewhere.");
    EXPECT_THAT(why(without.all()), HasSubstr(std::string{"no rows of table atone."} + name));
  }
}

TEST(dump, of_other_migrations_it_is_refused) {
  EXPECT_THAT(why(replaced(dump_text{}.all(), "\n7\tb", "\n6\tb")),
              HasSubstr("at migration 6; expected 7 (restore it, run atone db migrate"));
  EXPECT_THAT(why(replaced(dump_text{}.all(), "\n7\tb", "\n8\tb")), HasSubstr("at migration 8; expected 7: use the newer atone"));
  dump_text older;
  older.deletions.clear();
  older.migrations = replaced(older.migrations, "\n7\tb", "\n4\tb");
  EXPECT_THAT(why(older.all()), HasSubstr("at migration 4")) << "rather than that a table is missing";
  EXPECT_THAT(why(replaced(dump_text{}.all(), "seq, cause, attempt", "number, cause, attempt")),
              AllOf(HasSubstr("table atone.journal has no column 'seq'"), HasSubstr("expected migration 7")));
}

TEST(dump, rows_that_are_damaged_are_told_by_line_and_column) {
  auto const whole = dump_text{}.all();
  EXPECT_THAT(why(replaced(whole, "\tnote\\twith tab", "")), HasSubstr("day.sql:18: atone.journal: found 17 fields; expected 18"));
  EXPECT_THAT(why(replaced(whole, "note\\twith", "note\twith")), HasSubstr("found 19 fields"));
  EXPECT_THAT(why(replaced(whole, "\t-1\t0\t2", "\t-1\t0\tx")), HasSubstr("column 'seq': found 'x'; expected a number"));
  EXPECT_THAT(why(replaced(whole, "\t-1\t0\t2", "\t-1\t0\t\\N")), HasSubstr("column 'seq': found 'null'"));
  EXPECT_THAT(why(replaced(whole, "7b7d", "7b7")), HasSubstr("column 'payload'"));
  EXPECT_THAT(why(replaced(whole, saga + "\tfan", "0193\tfan")), HasSubstr("column 'saga_id': found '0193'; expected a saga's id"));
  EXPECT_THAT(why(replaced(whole, "3\t5\t1\t", "3\t9\t1\t")), HasSubstr("column 'status': found '9'; expected 1 to 7"));
  for (auto const* broken : {"fan\xff", "fan\\xff", "fan\\377"}) {
    EXPECT_THAT(why(replaced(whole, "fan/tag", broken)), HasSubstr("day.sql:18: atone.journal: found bytes that are not UTF-8"));
  }
  EXPECT_THAT(why(replaced(whole, "fan/tag", "fan\\0")), HasSubstr("zero byte"));
}

TEST(dump, the_same_twice_is_refused) {
  dump_text twice;
  twice.other = twice.sagas;
  EXPECT_THAT(why(twice.all()), HasSubstr("the rows of atone.saga come a second time"));
  dump_text two_rows;
  auto const from = two_rows.sagas.find('\n') + 1;
  two_rows.sagas.insert(from, two_rows.sagas.substr(from, two_rows.sagas.find('\n', from) + 1 - from));
  EXPECT_THAT(why(two_rows.all()), HasSubstr("has two rows; expected one"));
}

TEST(dump, a_definition_that_is_there_twice_is_refused) {
  dump_text two;
  auto const other = "one\t1\t" + std::string{"\\\\x"} + std::string(64, 'b') + "\tsaga: other\\n\t" + time + "\n";
  two.definitions = replaced(two.definitions, "\\.\n", other + "\\.\n");
  EXPECT_THAT(why(two.all()), HasSubstr("day.sql:9: atone.definition: definition one@1 has two rows; expected one"));
}

// Else its effects would pass for those of a saga that was deleted, or that began later.
TEST(dump, events_of_a_saga_without_a_row_are_refused) {
  std::string const lost = "01910000-0000-0000-0000-00000000002b";  // older than the newest deletion
  dump_text two;
  two.journal = block("journal", event_columns, event_line(2) + replaced(event_line(1), saga, lost) + event_line(1));
  EXPECT_THAT(why(two.all()), AllOf(HasSubstr("day.sql: saga " + dump::parse_uuid(lost)->text()),
                                    HasSubstr("has events and no row; expected its row in atone.saga")));
  dump_text none;
  none.sagas = replaced(none.sagas, none.sagas.substr(none.sagas.find("3\t5")), "\\.\n\n");
  EXPECT_THAT(why(none.all()), HasSubstr("has events and no row"));
}

TEST(dump, what_is_no_plain_dump_is_told_by_name) {
  EXPECT_THAT(why("PGDMP\x01\x0e"), HasSubstr("custom format: pg_restore -f - FILE | atone audit --dump -"));
  EXPECT_THAT(why("\x1f\x8b\x08"), HasSubstr("compressed: gunzip -c"));
  EXPECT_THAT(why("select 1;\n"), HasSubstr("no line '-- PostgreSQL database dump'"));
  EXPECT_THAT(why(""), HasSubstr("expected"));
  EXPECT_THAT(why(replaced(dump_text{}.all(), "'UTF8'", "'LATIN1'")), HasSubstr("expected UTF8"));
  dump_text inserts;
  inserts.sagas = "INSERT INTO atone.saga VALUES (3);\n";
  EXPECT_THAT(why(inserts.all()), HasSubstr("without --inserts"));
}

TEST(dump, nowhere_to_keep_the_events_is_told) {
  std::istringstream from{dump_text{}.all()};
  auto const came = journal_dump::read(from, "day.sql", testing::TempDir() + "/no/such/folder");
  ASSERT_FALSE(came.has_value());
  EXPECT_EQ(came.error().code, errc::unavailable);
  EXPECT_THAT(came.error().message, HasSubstr("no/such/folder"));
}

}  // namespace
}  // namespace atone
