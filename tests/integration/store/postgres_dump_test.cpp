// A journal read from what the real pg_dump wrote is the journal that the server has.
#include <gmock/gmock.h>

#include <random>
#include <sstream>

#include <atone/journal_dump.hpp>

#include "postgres_batches.hpp"

namespace atone::test {
namespace {

class postgres_dump : public postgres_test {
 protected:
  std::string pg_dump(std::vector<std::string> flags = {}) const {
    flags.push_back(server().address(database_));
    return server().output_of("pg_dump", flags);
  }
  static std::unique_ptr<journal_dump> read(std::string const& text) {
    std::istringstream from{text};
    auto came = journal_dump::read(from, "pg_dump", testing::TempDir());
    EXPECT_TRUE(came.has_value()) << (came ? "" : came.error().message);
    return came ? std::move(*came) : nullptr;
  }

  // Every row and event of the one is the other's.
  void expect_same(journal_dump const& dump) {
    auto const reader = open_reader();
    auto const rows = reader->list(saga_filter{});
    ASSERT_TRUE(rows.has_value());
    ASSERT_EQ(dump.sagas().size(), rows->size());
    for (auto const& row : *rows) {
      auto const* const found = dump.find(row.id);
      ASSERT_NE(found, nullptr);
      auto expected = row;
      expected.key = business_key{};
      expected.output.clear();
      EXPECT_EQ(*found, expected);
      EXPECT_EQ(*dump.history(row.id), *reader->history(row.id));
    }
    EXPECT_TRUE(std::equal(rows->begin(), rows->end(), dump.sagas().begin(), [](saga_row const& left, saga_row const& right) {
      return left.id == right.id;
    })) << "the newest first";
  }
};

// Texts of the characters with a meaning in COPY, and bytes of every value.
std::string drawn_text(std::mt19937_64& dice) {
  constexpr std::string_view characters = "\\\\\t\n\r\b\f\vN.x01ab \"'";
  std::string made;
  for (auto length = dice() % 20; length > 0; --length) made += characters[dice() % characters.size()];
  return dice() % 4 == 0 ? made + "\u00e9\u20ac" : made;
}

std::string drawn_bytes(std::mt19937_64& dice) {
  std::string made;
  for (auto length = dice() % 40; length > 0; --length) made += static_cast<char>(dice() % 256);
  return made;
}

TEST_F(postgres_dump, has_what_the_server_has) {
  std::mt19937_64 dice{2026};
  auto const to = open_journal();
  definition_row published;
  published.ref = row_of(1).definition;
  published.text = "saga: order-placed\n# a\ttab, a \\ and \u00e9\n";
  published.published_at = timestamp{duration{1'700'000'000'000'001}};
  ASSERT_TRUE(to->publish(published).has_value());
  batch_number next{1};
  for (std::uint32_t number = 1; number <= 40; ++number) {
    auto batch = starting(number);
    for (std::uint32_t seq = 2; seq <= 12; ++seq) {
      auto record = record_of(number, seq, drawn_bytes(dice));
      record.event.text = drawn_text(dice);
      record.event.actor = drawn_text(dice);
      record.event.random = dice();
      batch.records.push_back(std::move(record));
    }
    auto change = change_of(number, number % 3 == 0 ? saga_status::parked : saga_status::completed, 12);
    change.row.cause = drawn_text(dice);
    if (change.row.status == saga_status::parked) change.row.wake_at = wakes_never;
    batch.changes.push_back(std::move(change));
    auto const done = to->commit(batch, next);
    ASSERT_TRUE(done.has_value()) << done.error().message;
    next = batch_number{next.value() + 1};
  }
  auto const plain = read(pg_dump());
  ASSERT_NE(plain, nullptr);
  expect_same(*plain);
  auto const* const definition = plain->definition("order-placed", definition_version{3});
  ASSERT_NE(definition, nullptr);
  EXPECT_EQ(definition->text, published.text);
  EXPECT_EQ(definition->ref, published.ref);

  auto const custom = server().output_of("pg_dump", {"-Fc", server().address(database_)});
  EXPECT_TRUE(custom.starts_with("PGDMP"));
  auto const restored = read(server().output_of("pg_restore", {"-f", "-"}, custom));
  ASSERT_NE(restored, nullptr);
  expect_same(*restored);
  for (auto const& flags : {std::vector<std::string>{"--data-only"}, {"-n", "atone"}, {"--verbose"}}) {
    auto const other = read(pg_dump(flags));
    ASSERT_NE(other, nullptr) << flags.front();
    expect_same(*other);
  }
}

TEST_F(postgres_dump, in_another_zone_and_form_of_bytes_has_the_same) {
  auto const to = open_journal();
  auto batch = starting(1, 2);
  batch.records.push_back(record_of(2, 2, std::string{"\0\\\xff'", 4}));
  ASSERT_TRUE(to->commit(batch, batch_number{1}).has_value());
  ask("alter database " + database_ + " set timezone = 'Asia/Kolkata'; alter database " + database_ + " set bytea_output = 'escape'");
  auto const text = pg_dump();
  EXPECT_THAT(text, testing::HasSubstr("+05:30")) << "the zone is the database's";
  auto const dump = read(text);
  ASSERT_NE(dump, nullptr);
  expect_same(*dump);
}

TEST_F(postgres_dump, without_rows_or_copy_is_refused) {
  for (auto const* flag : {"--schema-only", "--inserts", "--exclude-table-data=atone.journal", "--exclude-table=atone.saga"}) {
    std::istringstream from{pg_dump({flag})};
    auto const came = journal_dump::read(from, "pg_dump", testing::TempDir());
    ASSERT_FALSE(came.has_value()) << flag;
    EXPECT_EQ(came.error().code, errc::corrupt) << flag;
    EXPECT_THAT(came.error().message, testing::HasSubstr("expected")) << flag;
  }
}

}  // namespace
}  // namespace atone::test
