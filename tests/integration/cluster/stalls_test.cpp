// Nodes that hang, and nodes that lose the database while others have it: what they drive is taken over, and they do nothing more to it.
#include "cluster.hpp"
#include "cutting_proxy.hpp"

namespace atone::test {
namespace {

using cluster_stalls = cluster_test;
using cluster_stalls_long = cluster_test;

TEST_F(cluster_stalls, b35_a_stalled_node_is_taken_over_and_its_next_write_is_refused) {
  look().ask("create table public.gate (id bigint primary key, total bigint); insert into public.gate values (1, 0)");
  ASSERT_NO_FATAL_FAILURE(begin_all());
  publish(
      "saga: gated\nversion: 1\nsteps:\n  - id: pass\n    sql: update public.gate set total = total + 1 where id = 1\n"
      "    compensate: {sql: update public.gate set total = total - 1 where id = 1}\n");
  std::string const stalled = "b";
  // Its transaction is open, and holds a row, when it stalls.
  pqxx::connection holding{server_address()};
  auto held = std::make_unique<pqxx::nontransaction>(holding);
  held->exec("begin; select from public.gate where id = 1 for update");
  auto const started = ask("b", "POST", "/v1/sagas/gated", "{}", "gated-1");
  ASSERT_EQ(started.response.status, 201) << started.response.body;
  auto const at_the_gate = [&](char const* state) {
    return look().number(std::string{"select count(*) from pg_stat_activity where query like 'update public.gate%' and "} + state) == 1;
  };
  ASSERT_TRUE(comes_true([&] { return at_the_gate("wait_event_type = 'Lock'"); }, patience));
  auto const stopped = now();
  at("b").signal(SIGSTOP);
  held->exec("rollback");
  held.reset();
  ASSERT_TRUE(comes_true([&] { return at_the_gate("state = 'idle in transaction'"); }, patience));
  auto const open = look().open_sagas_of("b");
  starts.doors({at("a").url(), at("c").url()});
  auto const moved = moves(open, stalled, stopped);
  ASSERT_TRUE(moved.first);
  measured("stall to the first request of another node", *moved.first);
  measured("stall until all of its " + std::to_string(moved.sagas) + " open sagas have moved", *moved.last);
  EXPECT_LT(*moved.last, 4s) << "its open transaction was in the way";
  EXPECT_TRUE(comes_true([&] { return look().number("select total from public.gate") == 1; }, patience));
  lasts(3 * lease - std::min(since(stopped), 3 * lease));
  auto const woken = now();
  at("b").signal(SIGCONT);
  auto const code = at("b").wait_for(patience);
  ASSERT_TRUE(code) << "it goes on as if nothing had happened";
  measured("going on until it has ended", since(woken));
  EXPECT_NE(*code, 0);
  EXPECT_THAT(at("b").log(), testing::HasSubstr("fenced"));
  EXPECT_EQ(sent_by(stalled, woken), 0u) << "it sent requests for sagas that are others'";
  all_end_well();
  EXPECT_EQ(look().number("select total from public.gate"), 1);
}

// Calls that wait inside the process, for their turn at a narrow service.
// What is queued there stays there once another drives the saga.
class cluster_narrow : public cluster_test {
 protected:
  // Many at one node, which may have two calls out.
  void begin_at(std::string const& node) {
    auto narrow = definition_of("narrow", participant.url() + "/narrow");  // an address of its own, which has a queue of its own
    publish(narrow.replace(narrow.find("\"}}"), 3, "\", in_flight: 2}}"));
    ASSERT_NO_FATAL_FAILURE(await_driving(node));
    participant.answer_after(300ms);
    constexpr int sagas = 40;
    for (int each = 1; each <= sagas; ++each) {
      ASSERT_EQ(ask(node, "POST", "/v1/sagas/narrow", R"({"n": 1})", "narrow-" + std::to_string(each)).response.status, 201);
    }
    auto const before = participant.count();
    ASSERT_TRUE(participant.comes_true([&](std::vector<arrival> const& came) { return came.size() > before; }, patience));
  }
};

using cluster_narrow_long = cluster_narrow;

TEST_F(cluster_narrow_long, b35_what_a_stalled_node_had_queued_is_not_sent_afterwards) {
  ASSERT_NO_FATAL_FAILURE(start_all({"a", "b", "c"}));
  ASSERT_NO_FATAL_FAILURE(begin_at("b"));
  std::string const stalled = "b";
  at("b").signal(SIGSTOP);
  participant.answer_after(1ms);
  ASSERT_TRUE(comes_true([this] { return !look().nodes().at("b").alive; }, patience));
  ASSERT_TRUE(comes_true([this] { return look().open_sagas() == 0; }, patience));
  auto const woken = now();
  at("b").signal(SIGCONT);
  auto const code = at("b").wait_for(patience);
  ASSERT_TRUE(code) << "it goes on as if nothing had happened";
  EXPECT_NE(*code, 0);
  EXPECT_EQ(sent_by(stalled, woken), 0u) << "it sent requests for sagas that are others'";
  all_end_well();
}

TEST_F(cluster_narrow, b35_what_a_node_had_queued_is_not_sent_once_its_lease_is_over) {
  cutting_proxy proxy{postgres_server::shared().port()};
  start("a");
  start("c");
  start("b", {}, "postgresql://atone@127.0.0.1:" + std::to_string(proxy.port()) + "/" + database());
  ASSERT_NO_FATAL_FAILURE(start_all({}));
  ASSERT_NO_FATAL_FAILURE(begin_at("b"));
  std::string const alone = "b";
  auto const cut = now();
  proxy.swallow_everything(true);
  EXPECT_TRUE(comes_true([this] { return !look().nodes().at("b").alive; }, patience));
  participant.answer_after(1ms);
  EXPECT_TRUE(comes_true([this] { return look().open_sagas() == 0; }, patience));
  lasts(1s);  // its last answers reach it meanwhile, and make room for what is queued
  EXPECT_EQ(sent_by(alone, cut + lease), 0u) << "it sent requests after its lease";
  all_end_well();
  stop_all();  // before the proxy
}

// The participant is reached, the database is not: nothing may be sent once the lease can be over.
TEST_F(cluster_stalls, b35_a_node_that_is_cut_off_from_the_database_sends_nothing_more) {
  cutting_proxy proxy{postgres_server::shared().port()};
  start("a");
  start("c");
  start("b", {}, "postgresql://atone@127.0.0.1:" + std::to_string(proxy.port()) + "/" + database());
  ASSERT_NO_FATAL_FAILURE(begin_all({}));
  std::string const alone = "b";
  auto const open = look().open_sagas_of("b");
  auto const cut = now();
  proxy.swallow_everything(true);
  starts.doors({at("a").url(), at("c").url()});
  auto const moved = moves(open, alone, cut);
  ASSERT_TRUE(moved.first);
  measured("cut to the first request of another node", *moved.first);
  std::map<std::string, moment> taken;
  for (auto const& one : participant.arrivals()) {
    if (one.node != alone) taken.emplace(one.saga, one.at);
  }
  for (auto const& one : participant.arrivals()) {
    auto const by_other = taken.find(one.saga);
    EXPECT_FALSE(one.node == alone && one.at > cut && by_other != taken.end() && one.at > by_other->second)
        << one.saga << " was driven by two";
  }
  EXPECT_EQ(sent_by(alone, cut + lease), 0u) << "it sent requests after its lease";
  proxy.swallow_everything(false);
  auto const code = at("b").wait_for(patience);
  ASSERT_TRUE(code) << "it goes on as if nothing had happened";
  EXPECT_NE(*code, 0);
  all_end_well();
}

// The one that would take over hangs between having seen and acting; another has done it meanwhile.
TEST_F(cluster_stalls_long, b32_a_node_that_hung_while_a_dead_one_was_taken_over_takes_nothing_twice) {
  ASSERT_NO_FATAL_FAILURE(begin_all());
  std::string const dead = "a";
  kill("a");
  auto const open = look().open_sagas_of("a");
  starts.doors({at("b").url(), at("c").url()});
  // Just before it would act: it has seen for most of a lease that nothing moves.
  lasts(lease * 9 / 10);
  at("b").signal(SIGSTOP);
  EXPECT_TRUE(comes_true([this] { return !look().nodes().at("a").alive; }, lease));
  at("b").signal(SIGCONT);
  static_cast<void>(moves(open, dead, now()));
  EXPECT_TRUE(balances(patience));
  EXPECT_TRUE(at("b").running());
  all_end_well();
}

}  // namespace
}  // namespace atone::test
