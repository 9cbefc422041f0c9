// Batches and databases for the PostgreSQL tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include <atone/journal.hpp>

#include "postgres/store.hpp"
#include "postgres_server.hpp"

namespace atone::test {

inline saga_id numbered_saga(std::uint32_t number) {
  saga_id::bytes bytes{0x01, 0x93};
  for (std::size_t at = 0; at < 4; ++at) bytes[12 + at] = static_cast<std::uint8_t>(number >> (24 - 8 * at) & 255);
  return saga_id{bytes};
}

inline shard home_of(std::uint32_t number) {
  return shard{static_cast<std::uint16_t>(number % 64)};
}

inline saga_row row_of(std::uint32_t number, std::string key = {}) {
  saga_row row;
  row.home = home_of(number);
  row.id = numbered_saga(number);
  row.definition.name = "order-placed";
  row.definition.version = definition_version{3};
  row.definition.hash = content_hash::of("definition");
  row.key = business_key{std::move(key)};
  row.started_at = timestamp{duration{1'700'000'000'123'456}};
  row.updated_at = row.started_at;
  row.last = sequence{1};
  return row;
}

inline saga_start start_of(std::uint32_t number, std::string key = {}) {
  saga_start start;
  start.row = row_of(number, std::move(key));
  start.body = content_hash::of("body " + std::to_string(number));
  return start;
}

inline journal_record record_of(std::uint32_t number, std::uint32_t seq, std::string payload = R"({"n":9007199254740993})") {
  journal_record record;
  record.home = home_of(number);
  record.saga = numbered_saga(number);
  record.event.kind = seq == 1 ? event_kind::started : event_kind::step_succeeded;
  record.event.seq = sequence{seq};
  record.event.cause = sequence{seq - 1};
  record.event.at = timestamp{duration{1'700'000'000'123'456 + seq}};
  record.event.random = 0xFFFF'0000'1234'5678;
  if (seq > 1) {
    record.event.step = step_path{"fan/profile/tag"};
    record.event.op = operation::act;
    record.event.n = attempt{1};
    record.event.status = 200;
  }
  record.event.payload = std::move(payload);
  return record;
}

inline saga_change change_of(std::uint32_t number, saga_status status, std::uint32_t last) {
  saga_change change;
  change.row = row_of(number);
  change.row.status = status;
  change.row.updated_at = change.row.started_at + std::chrono::seconds{2};
  if (is_final(status)) change.row.ended_at = change.row.updated_at;
  change.row.last = sequence{last};
  return change;
}

// `count` sagas from number `first`, each with its first event.
inline journal_batch starting(std::uint32_t first, std::uint32_t count = 1) {
  journal_batch batch;
  for (auto number = first; number < first + count; ++number) {
    batch.starts.push_back(start_of(number));
    batch.records.push_back(record_of(number, 1));
  }
  return batch;
}

// Each test: a database of its own on the server of this program, migrated, and a store on it with short limits.
class postgres_test : public testing::Test {
 protected:
  void SetUp() override {
    ATONE_NEED_POSTGRES();
    database_ = server().make_database();
    store_ = open_store_at(server().address(database_));
    ASSERT_TRUE(store_);
    auto const migrated = store_->migrate();
    ASSERT_TRUE(migrated) << migrated.error().message;
  }

  void TearDown() override {
    if (!database_.empty()) server().drop_database(database_);
  }

  static postgres_server& server() { return postgres_server::shared(); }

  static postgres::session_limits short_limits() {
    postgres::session_limits limits;
    limits.user_lock = std::chrono::milliseconds{300};
    limits.user_statement = std::chrono::milliseconds{1'000};
    limits.lock = std::chrono::milliseconds{700};
    limits.statement = std::chrono::milliseconds{4'000};
    limits.answer = std::chrono::milliseconds{5'000};
    return limits;
  }

  static std::unique_ptr<store> open_store_at(std::string const& address) {
    auto opened = postgres::open_with_limits(address, short_limits(), postgres::retry_limits{});
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }

  std::unique_ptr<journal> open_journal(std::string const& node = "node-1") {
    auto opened = store_->open_journal();
    EXPECT_TRUE(opened) << opened.error().message;
    if (!opened) return nullptr;
    auto const taken = (*opened)->take_over(node_id{node});
    EXPECT_TRUE(taken) << taken.error().message;
    return std::move(*opened);
  }

  std::unique_ptr<journal_reader> open_reader() {
    auto opened = store_->open_reader();
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }

  // One value of the test's database, as a superuser sees it.
  std::string ask(std::string const& statement) const { return server().psql(statement, database_); }
  std::string rows_in(std::string const& table) const { return ask("select count(*) from atone." + table); }

  std::string database_;
  std::unique_ptr<store> store_;
};

// A result that must hold a value.
#define EXPECT_FINE(expression)                                  \
  do {                                                           \
    auto const& checked = (expression);                          \
    EXPECT_TRUE(checked.has_value()) << checked.error().message; \
  } while (false)

}  // namespace atone::test
