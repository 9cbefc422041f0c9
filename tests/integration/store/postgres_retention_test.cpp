// Deleting beside writers that go on, between several coordinators, and cut off in the middle.
#include <gmock/gmock.h>

#include <thread>

#include "pace.hpp"
#include "postgres/embedded_sql.hpp"
#include "postgres_batches.hpp"
#include "postgres_holding_session.hpp"

namespace atone::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr duration age = std::chrono::hours{1};
constexpr span patience = std::chrono::seconds{60};

// A coordinator: what it writes with, and what it deletes with.
struct node {
  std::unique_ptr<journal> writes;
  std::unique_ptr<membership> belongs;
  std::unique_ptr<retention> deletes;
  std::uint64_t next = 1;

  node() = default;
  commit_report commit(journal_batch const& batch) {
    auto done = writes->commit(batch, batch_number{next++});
    EXPECT_TRUE(done) << done.error().message;
    return done ? *done : commit_report{};
  }
};

class postgres_retention : public postgres_test {
 protected:
  node join(std::string const& name, std::size_t shards, store* in = nullptr) {
    auto& from = in == nullptr ? *store_ : *in;
    node made;
    made.writes = *from.open_journal();
    auto const taken = made.writes->take_over(node_id{name});
    EXPECT_TRUE(taken) << taken.error().message;
    made.belongs = *from.open_membership(*taken);
    EXPECT_THAT(*made.belongs->claim(shards), SizeIs(shards));
    made.deletes = *from.open_retention(*taken);
    return made;
  }

  // Sagas that have ended, with a row in every table.
  static journal_batch finished(std::uint32_t first, std::uint32_t count, std::string const& key = {}) {
    auto batch = starting(first, count);
    for (auto number = first; number < first + count; ++number) {
      auto& start = batch.starts[number - first];
      if (!key.empty()) start = start_of(number, key + std::to_string(number));
      batch.changes.push_back(change_of(number, saga_status::completed, 1));
      compensation_entry entry;
      entry.home = home_of(number);
      entry.saga = numbered_saga(number);
      entry.step = step_path{"order"};
      entry.op = operation::compensate;
      entry.trace = trace_id::of(entry.saga, entry.step, entry.op);
      batch.compensations.push_back(entry);
      operator_action_row action;
      action.saga = entry.saga;
      action.action = "pause";
      batch.actions.push_back(action);
      alert_row alert;
      alert.saga = entry.saga;
      alert.kind = "slow";
      batch.alerts.push_back(alert);
    }
    return batch;
  }

  static finished_saga named(std::uint32_t number, std::string const& key = {}) {
    finished_saga one;
    one.home = home_of(number);
    one.id = numbered_saga(number);
    one.definition = "order-placed";
    one.key = business_key{key};
    return one;
  }

  std::string all_rows() const {
    return ask(
        "select (select count(*) from atone.saga) || ' ' || (select count(*) from atone.journal) || ' ' || (select count(*) from "
        "atone.compensation_log) || ' ' || (select count(*) from atone.alert) || ' ' || (select count(*) from atone.operator_action) || ' "
        "' || "
        "(select count(*) from atone.kept_key)");
  }

  // With the product's own limits: its writer waits long enough for whatever a test holds.
  std::unique_ptr<store> patient_store() const {
    auto opened = postgres::open_with_limits(server().address(database_), postgres::session_limits{}, postgres::retry_limits{});
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }

  // Ends when somebody waits for a lock that another session holds.
  void wait_until_somebody_waits() const {
    auto const somebody = [this] {
      return ask("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'atone'") != "0";
    };
    EXPECT_TRUE(comes_true(somebody, patience)) << "nobody ever waited";
  }
};

TEST_F(postgres_retention, each_coordinator_deletes_only_in_the_shards_it_holds) {
  auto first = join("a", 32);
  auto second = join("b", 32);
  first.commit(finished(1, 64));
  std::uint64_t by_first = 0;
  std::uint64_t by_second = 0;
  for (std::uint32_t number = 1; number <= 64; ++number) {
    auto const mine = first.deletes->remove({named(number)}, age);
    auto const theirs = second.deletes->remove({named(number)}, age);
    EXPECT_FINE(mine);
    EXPECT_FINE(theirs);
    by_first += *mine;
    by_second += *theirs;
  }
  EXPECT_EQ(by_first, 32u);
  EXPECT_EQ(by_second, 32u);
  EXPECT_EQ(all_rows(), "0 0 0 0 0 0");
  EXPECT_EQ(ask("select sum(sagas) from atone.deletion"), "64");
}

TEST_F(postgres_retention, a_shard_that_was_given_away_is_deleted_in_no_more) {
  auto first = join("a", 64);
  first.commit(finished(1, 1, "key"));
  auto second = join("b", 0);
  auto const to = second.belongs->renew("", std::chrono::seconds{2});
  ASSERT_TRUE(to);
  EXPECT_FINE(first.writes->hand_over({shard_move{home_of(1), to->self}}));
  EXPECT_EQ(*first.deletes->remove({named(1)}, age), 0u);
  EXPECT_EQ(*second.deletes->remove({named(1, "key1")}, age), 1u);
  EXPECT_EQ(first.deletes->expire_keys(home_of(1), saga_id{}, age, 10)->deleted, 0u);
  EXPECT_EQ(second.deletes->expire_keys(home_of(1), saga_id{}, age, 10)->deleted, 1u);
  EXPECT_EQ(rows_in("saga_key"), "0");
}

TEST_F(postgres_retention, a_coordinator_that_has_left_is_told_that_it_is_fenced) {
  auto one = join("a", 64);
  one.commit(finished(1, 1));
  EXPECT_FINE(one.belongs->leave());
  auto const refused = one.deletes->remove({named(1)}, age);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::fenced);
  EXPECT_EQ(rows_in("saga"), "1");
}

// It waits in the middle, behind a row that another session holds, and dies there.
TEST_F(postgres_retention, a_deletion_that_is_cut_off_in_the_middle_has_deleted_nothing) {
  auto one = join("a", 64);
  one.commit(finished(1, 1, "key"));
  result<std::uint64_t> cut{error{}};
  std::thread deleting;
  {
    holding_session stall{server().address(database_)};
    stall.run("select from atone.alert for update");  // after the key, the history and the compensations
    deleting = std::thread{[&] { cut = one.deletes->remove({named(1, "key1")}, age); }};
    wait_until_somebody_waits();
    ask("select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'atone'");
    deleting.join();
  }
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, errc::unavailable) << cut.error().message;
  EXPECT_EQ(all_rows(), "1 1 1 1 1 0");
  EXPECT_EQ(*one.deletes->remove({named(1, "key1")}, age), 1u);  // on a new connection
  EXPECT_EQ(all_rows(), "0 0 0 0 0 1");
}

TEST_F(postgres_retention, a_server_that_is_killed_has_a_saga_wholly_or_not_at_all) {
  postgres_server own;
  auto const at = own.make_database();
  auto const address = own.address(at);
  auto opened = open_store_at(address);
  ASSERT_TRUE(opened);
  EXPECT_FINE(opened->migrate());
  auto one = join("a", 64, opened.get());
  constexpr std::uint32_t sagas = 64 * 20;  // all in a few shards
  for (std::uint32_t first = 1; first <= sagas; first += 128) one.commit(finished(first, 128));
  std::thread deleting{[&] {
    for (std::uint32_t number = 1; number <= sagas; ++number) {
      if (!one.deletes->remove({named(number)}, age)) return;
    }
  }};
  EXPECT_TRUE(comes_true([&] { return own.psql("select coalesce(sum(sagas), 0) from atone.deletion", at) != "0"; }, patience));
  own.kill();
  deleting.join();
  own.start();
  EXPECT_EQ(
      own.psql(
          "select count(*) from atone.journal j full join atone.saga g using (shard, saga_id) full join atone.compensation_log c using "
          "(shard, saga_id) full join atone.alert a using (saga_id) full join atone.operator_action o using (saga_id) where "
          "j.seq is null or g.status is null or c.step is null or a.kind is null or o.action is null",
          at),
      "0");
  EXPECT_EQ(own.psql("select (select count(*) from atone.saga) + (select coalesce(sum(sagas), 0) from atone.deletion)", at),
            std::to_string(sagas));
}

// A start that meets a key at the moment in which it goes either has the old saga for its answer or the key for itself; never neither.
TEST_F(postgres_retention, a_start_under_a_key_that_is_just_going_claims_it) {
  auto const patient = patient_store();
  auto one = join("a", 64, patient.get());
  one.commit(finished(1, 1, "key"));
  EXPECT_EQ(*one.deletes->remove({named(1, "key1")}, age), 1u);
  commit_report report;
  std::thread starting_again;
  {
    holding_session going{server().address(database_)};
    going.run("delete from atone.saga_key");
    starting_again = std::thread{[&] {
      journal_batch batch;
      batch.starts.push_back(start_of(2, "key1"));
      batch.records.push_back(record_of(2, 1));
      report = one.commit(batch);
    }};
    wait_until_somebody_waits();
    going.run("commit");
  }
  starting_again.join();
  EXPECT_THAT(report.losers, IsEmpty());
  EXPECT_EQ(ask("select saga_id from atone.saga_key"), ask("select saga_id from atone.saga"));
  EXPECT_EQ(rows_in("saga"), "1");
}

TEST_F(postgres_retention, a_key_that_a_start_has_met_is_held_until_that_is_answered) {
  auto const patient = patient_store();
  auto one = join("a", 64, patient.get());
  one.commit(finished(1, 1, "key"));
  EXPECT_EQ(*one.deletes->remove({named(1, "key1")}, age), 1u);
  commit_report report;
  std::thread starting_again;
  {
    holding_session stall{server().address(database_)};
    stall.run("select from atone.writer for update");  // the commit waits at its fence, behind the claim
    starting_again = std::thread{[&] {
      journal_batch batch;
      batch.starts.push_back(start_of(2, "key1"));
      batch.records.push_back(record_of(2, 1));
      report = one.commit(batch);
    }};
    wait_until_somebody_waits();
    auto const held = one.deletes->expire_keys(home_of(1), saga_id{}, age, 10);
    EXPECT_FALSE(held);
    if (!held) {
      EXPECT_EQ(held.error().code, errc::unavailable) << held.error().message;
    }
    stall.run("commit");
  }
  starting_again.join();
  ASSERT_THAT(report.losers, SizeIs(1));
  EXPECT_EQ(report.losers.front().existing, numbered_saga(1));
  auto const expired = one.deletes->expire_keys(home_of(1), saga_id{}, age, 10);
  EXPECT_FINE(expired);
  EXPECT_EQ(expired->deleted, 1u);
  EXPECT_EQ(rows_in("saga_key"), "0");
  EXPECT_EQ(rows_in("saga"), "0");
}

TEST_F(postgres_retention, finding_the_oldest_descends_the_key_and_reads_no_more_than_it_shows) {
  auto one = join("a", 64);
  for (std::uint32_t first = 64; first < 6464; first += 1280) one.commit(finished(first, 1280));
  ask("analyze atone.saga");
  auto const plan =
      ask("set enable_seqscan = off; set enable_bitmapscan = off; explain (analyze, costs off, timing off, summary off) select g.saga_id, "
          "g.status from "
          "atone.saga g where g.shard = 5 and g.saga_id > '00000000-0000-0000-0000-000000000000' and g.saga_id < atone.first_id_at(now()) "
          "order by "
          "g.saga_id limit 10");
  EXPECT_THAT(plan, HasSubstr("Index Scan using saga_pkey on saga g (actual rows=10 loops=1)")) << plan;
  EXPECT_THAT(plan, testing::Not(HasSubstr("Sort")));
}

TEST_F(postgres_retention, the_first_id_of_a_time_is_the_same_in_sql) {
  for (std::int64_t const microseconds : {std::int64_t{0}, std::int64_t{1'700'000'000'123'456}, std::int64_t{4'102'444'800'999'999}}) {
    auto const in_sql = ask("select atone.id_text(atone.first_id_at(timestamptz 'epoch' + " + std::to_string(microseconds) +
                            "::bigint * interval '1 microsecond'))");
    EXPECT_EQ(in_sql, first_id_at(timestamp{duration{microseconds}}).text());
  }
}

// A database of the version before, with a finished saga under a key.
TEST_F(postgres_retention, what_the_version_before_has_finished_can_be_deleted_after_the_upgrade) {
  auto const before = server().make_database();
  server().psql(
      "create schema atone; create table atone.migration (number integer primary key, name text not null, applied_at timestamptz not null "
      "default clock_timestamp())",
      before);
  for (std::size_t at = 0; at < 4; ++at) {
    auto const& step = postgres::migrations()[at];
    server().psql(std::string{step.text} + "; insert into atone.migration (number, name) values (" + std::to_string(at + 1) + ", '" +
                      std::string{step.name} + "')",
                  before);
  }
  auto const id = "'" + ask("select atone.id_of('" + numbered_saga(5).text() + "')") + "'";
  server().psql(
      "insert into atone.saga values (5, 5, 3, " + id +
          ", 0, 1, now() - interval '3 h', now() - interval '2 h', now() - interval '2 h', 'order-placed', decode(repeat('00', 32), "
          "'hex'), 'k', '', ''); insert into atone.saga_key select 7, 5, " +
          id + ", now(), 'order-placed', 'k', decode(repeat('00', 32), 'hex')",
      before);
  auto const upgraded = open_store_at(server().address(before));
  ASSERT_TRUE(upgraded);
  EXPECT_FINE(upgraded->migrate());
  {
    auto one = join("a", 64, upgraded.get());
    auto const found = one.deletes->look({shard{5}}, saga_id{}, age, 10);
    ASSERT_TRUE(found);
    ASSERT_THAT(found->sagas, SizeIs(1));
    EXPECT_EQ(*one.deletes->remove(found->sagas, age), 1u);
    auto const reader = *upgraded->open_reader();
    EXPECT_FALSE(*reader->find(numbered_saga(5)));
    EXPECT_EQ(server().psql("select count(*) from atone.saga_key", before), "1");
    EXPECT_EQ(reader->deletions()->sagas, 1u);
  }
  server().drop_database(before);
}

}  // namespace
}  // namespace atone::test
