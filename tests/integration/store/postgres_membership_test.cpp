// Several coordinators on one database: whose shards are whose, and that no way of moving them gives one to two.
#include <gmock/gmock.h>

#include <algorithm>
#include <thread>

#include "postgres/embedded_sql.hpp"
#include "postgres_batches.hpp"
#include "postgres_holding_session.hpp"

namespace atone::test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr duration lease = 2s;

// A node: its writer, and its place among the others.
struct node {
  std::unique_ptr<journal> writes;
  std::unique_ptr<membership> belongs;
  epoch as;
  std::uint64_t next = 1;

  node() = default;
  result<commit_report> commit(journal_batch const& batch) {
    auto done = writes->commit(batch, batch_number{next});
    if (done) ++next;
    return done;
  }
  roster look() {
    auto seen = belongs->renew("http://here", lease);
    EXPECT_TRUE(seen) << seen.error().message;
    return seen ? *seen : roster{};
  }
  member own() { return find(look().self); }
  member find(writer_number number) {
    for (auto const& one : look().members) {
      if (one.number == number) return one;
    }
    return {};
  }
  std::vector<shard> claim(std::size_t most = 64) {
    auto taken = belongs->claim(most);
    EXPECT_TRUE(taken) << taken.error().message;
    return taken ? *taken : std::vector<shard>{};
  }
};

class postgres_membership : public postgres_test {
 protected:
  node join(std::string const& name) {
    node made;
    made.writes = *store_->open_journal();
    auto const taken = made.writes->take_over(node_id{name});
    EXPECT_TRUE(taken) << taken.error().message;
    made.as = *taken;
    auto opened = store_->open_membership(made.as);
    EXPECT_TRUE(opened) << opened.error().message;
    made.belongs = std::move(*opened);
    return made;
  }
  std::string owners() const {
    return ask(
        "select string_agg(w.node || ' ' || n, ', ' order by w.node) from (select writer, count(*) n from atone.lease group by writer) l "
        "join atone.writer w on w.id = l.writer");
  }
};

TEST_F(postgres_membership, nodes_write_side_by_side_and_fence_nobody) {
  auto first = join("a");
  auto second = join("b");
  EXPECT_FINE(first.commit(starting(1)));
  EXPECT_FINE(second.commit(starting(2)));
  EXPECT_FINE(first.commit(starting(3)));
  EXPECT_EQ(rows_in("saga"), "3");
  EXPECT_GT(second.as, first.as);
}

TEST_F(postgres_membership, what_is_free_is_claimed_once) {
  auto first = join("a");
  auto second = join("b");
  EXPECT_THAT(first.look().free, SizeIs(64));
  EXPECT_THAT(first.claim(40), SizeIs(40));
  EXPECT_THAT(second.claim(40), SizeIs(24));
  EXPECT_THAT(first.claim(40), IsEmpty());
  EXPECT_EQ(owners(), "a 40, b 24");
}

TEST_F(postgres_membership, claims_of_many_at_the_same_moment_never_overlap) {
  constexpr int nodes = 6;
  std::vector<node> all;
  for (int n = 0; n < nodes; ++n) all.push_back(join("n" + std::to_string(n)));
  std::vector<std::vector<shard>> taken(nodes);
  std::vector<std::thread> claiming;
  for (int n = 0; n < nodes; ++n) {
    claiming.emplace_back([&, n] {
      for (int times = 0; times < 8; ++times) {
        auto const got = all[static_cast<std::size_t>(n)].claim(3);
        taken[static_cast<std::size_t>(n)].insert(taken[static_cast<std::size_t>(n)].end(), got.begin(), got.end());
      }
    });
  }
  for (auto& one : claiming) one.join();
  std::vector<shard> every;
  for (auto const& one : taken) every.insert(every.end(), one.begin(), one.end());
  std::sort(every.begin(), every.end());
  EXPECT_EQ(std::unique(every.begin(), every.end()), every.end());
  EXPECT_THAT(every, SizeIs(64));
}

TEST_F(postgres_membership, whoever_is_fenced_commits_nothing_and_its_shards_are_free) {
  auto dead = join("a");
  auto other = join("b");
  (void)dead.claim();
  EXPECT_FINE(dead.commit(starting(1)));
  auto const seen = other.find(dead.own().number);
  auto const fenced = other.belongs->fence(seen);
  ASSERT_TRUE(fenced) << fenced.error().message;
  EXPECT_TRUE(*fenced);
  EXPECT_THAT(other.look().free, SizeIs(64));
  EXPECT_THAT(other.claim(), SizeIs(64));
  auto const stale = dead.commit(starting(2));
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, errc::fenced);
  auto const renewed = dead.belongs->renew("", lease);
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().code, errc::fenced);
  auto const claimed = dead.belongs->claim(1);
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, errc::fenced);
  EXPECT_EQ(rows_in("saga"), "1");
}

TEST_F(postgres_membership, one_that_has_moved_since_it_was_seen_is_not_fenced) {
  auto alive = join("a");
  auto other = join("b");
  (void)alive.claim();
  auto const seen = other.find(alive.own().number);
  EXPECT_FINE(alive.commit(starting(1)));
  auto const fenced = other.belongs->fence(seen);
  ASSERT_TRUE(fenced) << fenced.error().message;
  EXPECT_FALSE(*fenced);
  EXPECT_FINE(alive.commit(starting(2)));
  EXPECT_EQ(owners(), "a 64");
}

// Stopped in the middle of its transaction: past its inserts with a key claimed, or past its fence with its row locked.
TEST_F(postgres_membership, a_node_stopped_inside_its_transaction_blocks_no_take_over) {
  auto stopped = join("a");
  auto other = join("b");
  (void)stopped.claim();
  holding_session inside{server().address(database_)};
  inside.run(
      "update atone.writer set backend_pid = pg_backend_pid(), backend_start = (select backend_start from pg_stat_activity "
      "where pid = pg_backend_pid()) where node = 'a'");
  inside.run("commit");
  auto const seen = other.find(stopped.own().number);
  inside.run("begin; select from atone.writer where node = 'a' for update");
  auto const before = std::chrono::steady_clock::now();
  auto const fenced = other.belongs->fence(seen);
  ASSERT_TRUE(fenced) << fenced.error().message;
  EXPECT_TRUE(*fenced);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
  EXPECT_THAT(other.claim(), SizeIs(64));
}

TEST_F(postgres_membership, a_node_that_comes_back_in_time_finds_its_leases) {
  auto before = join("a");
  (void)before.claim(40);
  auto again = join("a");
  EXPECT_THAT(again.own().held, SizeIs(40));
  auto const stale = before.belongs->renew("", lease);
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, errc::fenced);
}

TEST_F(postgres_membership, one_that_comes_back_late_has_lost_them_to_whoever_claimed) {
  auto before = join("a");
  auto other = join("b");
  (void)before.claim();
  ASSERT_TRUE(*other.belongs->fence(other.find(before.own().number)));
  (void)other.claim();
  auto again = join("a");
  EXPECT_THAT(again.own().held, IsEmpty());
  EXPECT_EQ(owners(), "b 64");
}

TEST_F(postgres_membership, shards_are_handed_to_whom_they_are_for_behind_what_was_written) {
  auto first = join("a");
  auto second = join("b");
  (void)first.claim();
  EXPECT_FINE(first.commit(starting(5)));
  auto const to = second.own().number;
  EXPECT_FINE(first.writes->hand_over({{shard{5}, to}, {shard{6}, to}, {shard{7}, std::nullopt}}));
  EXPECT_FINE(first.writes->hand_over({{shard{5}, to}}));  // again: harmless
  EXPECT_THAT(second.own().held, ElementsAre(shard{5}, shard{6}));
  EXPECT_THAT(second.look().free, ElementsAre(shard{7}));
  std::vector<saga_id> found;
  EXPECT_FINE(second.writes->load_open({shard{5}}, [&](open_saga&& one) { found.push_back(one.row.id); }));
  EXPECT_THAT(found, ElementsAre(numbered_saga(5)));
  EXPECT_FINE(second.writes->load_open({shard{6}}, [&](open_saga&&) { ADD_FAILURE() << "no saga is there"; }));
}

TEST_F(postgres_membership, nobody_gives_away_what_is_not_its_own) {
  auto first = join("a");
  auto second = join("b");
  (void)first.claim(1);
  EXPECT_FINE(second.writes->hand_over({{first.own().held[0], second.own().number}}));
  EXPECT_THAT(first.own().held, SizeIs(1));
}

TEST_F(postgres_membership, a_fenced_node_hands_nothing_over) {
  auto first = join("a");
  auto second = join("b");
  (void)first.claim();
  auto const to = second.own().number;
  ASSERT_TRUE(*second.belongs->fence(second.find(first.own().number)));
  auto const given = first.writes->hand_over({{shard{0}, to}});
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().code, errc::fenced);
}

TEST_F(postgres_membership, what_is_handed_to_one_that_has_just_left_is_free) {
  auto first = join("a");
  auto second = join("b");
  (void)first.claim();
  auto const to = second.own().number;
  EXPECT_FINE(second.belongs->leave());
  EXPECT_FINE(first.writes->hand_over({{shard{0}, to}}));
  EXPECT_THAT(first.look().free, ElementsAre(shard{0}));
  EXPECT_THAT(first.claim(), ElementsAre(shard{0}));
}

TEST_F(postgres_membership, whoever_leaves_leaves_its_shards_to_the_others_at_once) {
  auto first = join("a");
  auto second = join("b");
  (void)first.claim();
  EXPECT_FINE(first.belongs->leave());
  EXPECT_THAT(second.look().free, SizeIs(64));
  EXPECT_THAT(second.claim(), SizeIs(64));
  auto const members = second.look().members;
  EXPECT_EQ(std::count_if(members.begin(), members.end(), [](member const& one) { return one.alive; }), 1);
}

// The one that left comes back while another claims what it had: either has them, never both.
TEST_F(postgres_membership, a_return_and_a_claim_at_the_same_moment_give_nothing_to_both) {
  for (int round = 0; round < 20; ++round) {
    auto leaving = join("a");
    auto other = join("b");
    EXPECT_FINE(leaving.writes->hand_over({}));
    (void)leaving.claim();
    EXPECT_FINE(leaving.belongs->leave());
    std::vector<shard> returned;
    std::thread returning{[&] { returned = join("a").own().held; }};
    auto const claimed = other.claim();
    returning.join();
    std::vector<shard> both;
    std::set_intersection(returned.begin(), returned.end(), claimed.begin(), claimed.end(), std::back_inserter(both));
    EXPECT_THAT(both, IsEmpty());
    EXPECT_FINE(other.belongs->leave());
  }
}

TEST_F(postgres_membership, waiting_for_news_ends_when_another_says_that_something_changed) {
  auto first = join("a");
  auto second = join("b");
  (void)first.claim();
  (void)second.look();
  std::thread leaving{[&] { EXPECT_FINE(first.belongs->leave()); }};
  auto const before = std::chrono::steady_clock::now();
  second.belongs->await_news(20s);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  leaving.join();
}

TEST_F(postgres_membership, a_key_claimed_by_two_nodes_at_once_is_one_sagas) {
  auto first = join("a");
  auto second = join("b");
  for (std::uint32_t n = 1; n <= 20; ++n) {
    auto const start = [&](node& by, std::uint32_t number) {
      auto batch = starting(number);
      batch.starts[0].row.key = business_key{"k" + std::to_string(n)};
      return by.commit(batch);
    };
    result<commit_report> left{error{}};
    std::thread side{[&] { left = start(first, 2 * n); }};
    auto const right = start(second, 2 * n + 1);
    side.join();
    ASSERT_TRUE(left) << left.error().message;
    ASSERT_TRUE(right) << right.error().message;
    EXPECT_EQ(left->losers.size() + right->losers.size(), 1U);
  }
  EXPECT_EQ(rows_in("saga"), "20");
}

TEST_F(postgres_membership, rows_shared_by_nodes_are_locked_in_one_order) {
  auto first = join("a");
  auto second = join("b");
  auto const outputs = [&](node& by, std::uint32_t saga, bool turned) {
    journal_batch batch;
    for (int key = 0; key < 30; ++key) {
      last_output_row row;
      row.saga_name = "order-placed";
      row.step = step_path{"features"};
      row.key = std::to_string(key);
      row.written_by = numbered_saga(saga);
      row.output = "{}";
      batch.outputs.push_back(row);
    }
    if (turned) std::reverse(batch.outputs.begin(), batch.outputs.end());
    return by.commit(batch);
  };
  EXPECT_FINE(first.commit(starting(1)));
  EXPECT_FINE(second.commit(starting(2)));
  std::thread side{[&] {
    for (int n = 0; n < 40; ++n) EXPECT_FINE(outputs(first, 1, false));
  }};
  for (int n = 0; n < 40; ++n) EXPECT_FINE(outputs(second, 2, true));
  side.join();
  EXPECT_EQ(ask("select deadlocks from pg_stat_database where datname = current_database()"), "0");
}

TEST_F(postgres_membership, a_start_for_a_shard_of_another_leaves_a_notice_there) {
  auto first = join("a");
  auto second = join("b");
  (void)first.claim();
  auto batch = starting(5);
  batch.foreign = {home_of(5)};
  EXPECT_FINE(second.commit(batch));
  EXPECT_FINE(second.commit(batch = starting(6)));  // its own: no notice
  auto const waiting = first.writes->take_inbox({home_of(5)}, 10, 0);
  ASSERT_TRUE(waiting) << waiting.error().message;
  ASSERT_THAT(*waiting, SizeIs(1));
  EXPECT_EQ((*waiting)[0].arrived, numbered_saga(5));
  EXPECT_THAT(*first.writes->take_inbox({home_of(6)}, 10, 0), IsEmpty());
  journal_batch taken;
  taken.taken = {(*waiting)[0].number};
  EXPECT_FINE(first.commit(taken));
  EXPECT_EQ(rows_in("inbox"), "0");
}

TEST_F(postgres_membership, a_start_that_lost_its_key_leaves_no_notice) {
  auto first = join("a");
  auto batch = starting(5);
  batch.starts[0].row.key = business_key{"k"};
  EXPECT_FINE(first.commit(batch));
  auto again = starting(6);
  again.starts[0].row.key = business_key{"k"};
  again.foreign = {home_of(6)};
  EXPECT_FINE(first.commit(again));
  EXPECT_EQ(rows_in("inbox"), "0");
}

TEST_F(postgres_membership, each_request_from_sql_is_one_nodes_to_take) {
  for (int n = 0; n < 100; ++n) ask("select atone.start('order-placed', 'k" + std::to_string(n) + "', '{}')");
  auto first = join("a");
  std::vector<shard> even, odd;
  for (std::uint16_t n = 0; n < 64; ++n) (n % 2 == 0 ? even : odd).emplace_back(n);
  auto const left = *first.writes->take_inbox(even, 1000, 0);
  auto const right = *first.writes->take_inbox(odd, 1000, 0);
  EXPECT_EQ(left.size(), 50U);
  EXPECT_EQ(right.size(), 50U);
}

TEST_F(postgres_membership, all_nodes_sign_callbacks_with_one_key) {
  auto first = join("a");
  auto second = join("b");
  auto const key = first.belongs->token_key();
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(key->size(), 64U);
  EXPECT_EQ(*second.belongs->token_key(), *key);
}

TEST_F(postgres_membership, lost_connections_are_made_again) {
  auto first = join("a");
  (void)first.look();
  ask("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'atone'");
  auto const lost = first.belongs->renew("", lease);
  if (!lost) {
    EXPECT_EQ(lost.error().code, errc::unavailable) << lost.error().message;
  }
  EXPECT_TRUE(first.belongs->renew("", lease));
  EXPECT_THAT(first.claim(), SizeIs(64));
}

// A database of the version before, with a saga under way, written by its only coordinator.
TEST_F(postgres_membership, what_one_coordinator_left_is_taken_over_after_the_upgrade) {
  auto const before = server().make_database();
  server().psql(
      "create schema atone; create table atone.migration (number integer primary key, name text not null, applied_at timestamptz "
      "not null default clock_timestamp())",
      before);
  for (std::size_t at = 0; at < 3; ++at) {
    auto const& step = postgres::migrations()[at];
    server().psql(std::string{step.text} + "; insert into atone.migration (number, name) values (" + std::to_string(at + 1) + ", '" +
                      std::string{step.name} + "')",
                  before);
  }
  server().psql(
      "update atone.writer set node = 'node', epoch = 7; insert into atone.saga values (5, 1, 3, '01930000-0000-0000-0000-000000000005', "
      "0, 1, "
      "now(), now(), null, 'order-placed', decode(repeat('00', 32), 'hex'), 'k', '', ''); select atone.start('order-placed', 'waits', "
      "'{}')",
      before);
  auto const upgraded = open_store_at(server().address(before));
  ASSERT_TRUE(upgraded);
  EXPECT_FINE(upgraded->migrate());
  node made;
  made.writes = *upgraded->open_journal();
  auto const taken = made.writes->take_over(node_id{"node"});
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(taken->value(), 8U);
  made.belongs = *upgraded->open_membership(*taken);
  EXPECT_THAT(made.claim(), SizeIs(64));
  std::vector<saga_id> open;
  EXPECT_FINE(made.writes->load_open(made.writes->every_shard(), [&](open_saga&& one) { open.push_back(one.row.id); }));
  EXPECT_THAT(open, SizeIs(1));
  EXPECT_THAT(*made.writes->take_inbox(made.writes->every_shard(), 10, 0), SizeIs(1));
  made.writes.reset();
  made.belongs.reset();
  server().drop_database(before);
}

}  // namespace
}  // namespace atone::test
