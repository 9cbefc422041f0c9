// What other programs and people meet in the database: atone.start, views, counters, migrations, health.
#include <gmock/gmock.h>

#include <thread>

#include "pace.hpp"
#include "postgres_batches.hpp"

namespace atone::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class postgres_programs : public postgres_test {};

TEST_F(postgres_programs, a_start_request_is_there_only_when_its_transaction_commits) {
  ask("create table public.orders (id int primary key)");
  ask("begin; insert into public.orders values (1); select atone.start('order-placed', '1', '{\"order_id\": 1}'); rollback");
  auto journal = open_journal();
  EXPECT_THAT(*journal->take_inbox(journal->every_shard(), 10, 0), IsEmpty());
  ask("begin; insert into public.orders values (2); select atone.start('order-placed', '2', '{\"n\": 9007199254740993, \"z\": -0}'); "
      "commit");
  auto const waiting = journal->take_inbox(journal->every_shard(), 10, 0);
  ASSERT_TRUE(waiting) << waiting.error().message;
  ASSERT_EQ(waiting->size(), 1U);
  EXPECT_EQ((*waiting)[0].saga_name, "order-placed");
  EXPECT_EQ((*waiting)[0].key.value(), "2");
  EXPECT_EQ((*waiting)[0].input, "{\"n\": 9007199254740993, \"z\": -0}");
}

TEST_F(postgres_programs, a_request_leaves_in_the_transaction_that_starts_its_saga) {
  ask("select atone.start('order-placed', 'a', '{}'); select atone.start('order-placed', 'a', '{}'); select atone.start('order-placed', "
      "'b', '{}')");
  auto journal = open_journal();
  auto const waiting = *journal->take_inbox(journal->every_shard(), 2, 0);
  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(journal->take_inbox(journal->every_shard(), 10, 0)->size(), 3U);                      // taking alone removes nothing
  EXPECT_EQ(journal->take_inbox(journal->every_shard(), 10, waiting.back().number)->size(), 1U);  // behind those that wait
  auto batch = starting(1, 2);
  batch.starts[0].row.key = business_key{"a"};
  batch.starts[1].row.key = business_key{"a"};  // asked for twice: one saga
  for (auto const& request : waiting) batch.taken.push_back(request.number);
  auto const report = journal->commit(batch, batch_number{1});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->losers.size(), 1U);
  auto const left = *journal->take_inbox(journal->every_shard(), 10, 0);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].key.value(), "b");
}

TEST_F(postgres_programs, a_role_without_rights_on_the_tables_may_start_sagas) {
  server().psql("drop role if exists shop; create role shop login", database_);
  ask("grant usage on schema atone to shop");
  ask("set role shop; select atone.start('order-placed', '1', '{}')");
  EXPECT_EQ(rows_in("inbox"), "1");
  EXPECT_EQ(ask("set role shop; select has_table_privilege('atone.inbox', 'select')"), "f");
  ask("drop owned by shop; drop role shop");
}

TEST_F(postgres_programs, people_read_ids_and_words) {
  auto journal = open_journal();
  auto batch = starting(7);
  batch.records.push_back(record_of(7, 2, "\xFF\x00 raw"));
  ASSERT_TRUE(journal->commit(batch, batch_number{1}));
  auto const id = numbered_saga(7).text();
  EXPECT_EQ(ask("select id || ' ' || status from atone.sagas"), id + " running");
  EXPECT_EQ(ask("select atone.id_of('" + id + "') = saga_id from atone.saga"), "t");
  EXPECT_EQ(ask("select kind || ' ' || operation || ' ' || payload from atone.history where seq = 2"), "step_succeeded do \\xff");
  EXPECT_EQ(ask("select payload from atone.history where seq = 1"), R"({"n":9007199254740993})");
  // The two alphabets agree at both ends.
  for (auto const& text : {std::string(26, '0'), "7" + std::string(25, 'Z')}) {
    EXPECT_EQ(ask("select atone.id_text(atone.id_of('" + text + "'))"), text);
  }
}

// FEASIBILITY: group commit is what makes the store fast. 256 sagas of four events each, in eight batches.
TEST_F(postgres_programs, many_sagas_share_one_commit) {
  auto journal = open_journal();
  ASSERT_TRUE(journal->commit(starting(10'000), batch_number{1}));
  auto const commits = [&] {
    return std::stoll(
        ask("select pg_stat_force_next_flush(); select xact_commit from pg_stat_database where datname = current_database()"));
  };
  // The session's own counts reach the view when it is idle for a while or has ended, which is a moment after the journal has.
  auto const close = [&] {
    journal.reset();
    EXPECT_TRUE(comes_true([&] { return ask("select count(*) from pg_stat_activity where datname = current_database()") == "1"; },
                           std::chrono::seconds{30}));
  };
  close();
  auto const before = commits();
  journal = open_journal();
  for (std::uint32_t seq = 1; seq <= 4; ++seq) {
    auto batch = seq == 1 ? starting(1, 256) : journal_batch{};
    for (std::uint32_t number = 1; seq > 1 && number <= 256; ++number) batch.records.push_back(record_of(number, seq));
    if (seq == 4) {
      for (std::uint32_t number = 1; number <= 256; ++number) batch.changes.push_back(change_of(number, saga_status::completed, 4));
    }
    ASSERT_TRUE(journal->commit(batch, batch_number{seq}));
  }
  close();
  auto const used = commits() - before;
  EXPECT_GT(used, 3);
  EXPECT_LT(used, 64) << "transactions for 256 sagas, opening and taking over included";
  EXPECT_EQ(ask("select count(*) from atone.saga where status = 5"), "256");
}

TEST_F(postgres_programs, four_who_migrate_at_once_take_turns) {
  auto const fresh = server().make_database();
  std::vector<std::thread> all;
  for (int one = 0; one < 4; ++one) {
    all.emplace_back([&] {
      auto opened = open_store_at(server().address(fresh));
      auto const done = opened->migrate();
      EXPECT_TRUE(done) << done.error().message;
    });
  }
  for (auto& one : all) one.join();
  EXPECT_EQ(server().psql("select string_agg(name, ' ' order by number) from atone.migration", fresh),
            "0001_tables 0002_commit 0003_views_and_start 0004_nodes 0005_retention 0006_locks 0007_wake_at");
}

TEST_F(postgres_programs, the_number_of_shards_can_be_chosen_before_the_first_migration) {
  auto const fresh = server().make_database();
  server().psql("alter database " + fresh + " set atone.shards = 4");
  auto opened = open_store_at(server().address(fresh));
  ASSERT_TRUE(opened->migrate());
  EXPECT_EQ((*opened->open_journal())->shards(), 4);
}

TEST_F(postgres_programs, a_database_that_is_not_utf8_is_refused_before_anything_is_made) {
  server().psql("create database latin encoding 'LATIN1' template template0");
  auto opened = open_store_at(server().address("latin"));
  auto const refused = opened->migrate();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("LATIN1"));
}

TEST_F(postgres_programs, health_names_what_would_lose_data) {
  EXPECT_THAT(store_->health(), IsEmpty());
  server().psql("alter system set fsync = off");
  server().psql("alter system set full_page_writes = off");
  server().psql("select pg_reload_conf()");
  std::vector<std::string> warnings;
  for (int attempt = 0; attempt < 100 && warnings.size() < 2; ++attempt) warnings = store_->health();
  server().psql("alter system reset all");
  server().psql("select pg_reload_conf()");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("fsync is off"), HasSubstr("full_page_writes is off")));
}

TEST_F(postgres_programs, health_tells_a_lazy_or_read_only_default) {
  server().psql("alter database " + database_ + " set synchronous_commit = off");
  server().psql("alter database " + database_ + " set default_transaction_read_only = on");
  EXPECT_THAT(store_->health(), ElementsAre(HasSubstr("synchronous_commit"), HasSubstr("read-only")));
}

TEST_F(postgres_programs, the_address_is_shown_without_its_password) {
  auto const with_password = open_store_at("postgresql://atone:secret@127.0.0.1:" + std::to_string(server().port()) + "/" + database_);
  ASSERT_TRUE(with_password);
  EXPECT_THAT(with_password->description(), HasSubstr(database_));
  EXPECT_THAT(with_password->description(), testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace atone::test
