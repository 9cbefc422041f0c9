// Faults that users of such systems reported, as far as they need several coordinators, or one that is killed, on PostgreSQL.
#include <atomic>
#include <future>

#include "cluster.hpp"

namespace atone::test {
namespace {

using cluster_reports = cluster_test;
using cluster_reports_long = cluster_test;

// Nothing but the restart sets them going again.
TEST_F(cluster_reports, b29_all_nodes_killed_and_started_again_go_on_without_new_work) {
  ASSERT_NO_FATAL_FAILURE(begin_all());
  ASSERT_TRUE(starts.end(patience));
  for (auto const* node : {"a", "b", "c"}) at(node).signal(SIGKILL);
  for (auto const* node : {"a", "b", "c"}) ASSERT_EQ(at(node).wait(), -SIGKILL);
  ASSERT_GT(look().open_sagas(), 0);
  start("b");
  all_end_well();
}

// What SQL has asked for waits in the database, for whoever drives the shard.
TEST_F(cluster_reports_long, b30_starts_asked_for_by_sql_outlive_the_node_that_was_to_make_them) {
  ASSERT_NO_FATAL_FAILURE(begin_all());
  kill("b");
  look().ask("select atone.start('order', 'sql-' || n, json_build_object('n', 5 * n + 1)::text) from generate_series(1, 64) n");
  starts.doors(urls());
  auto const made = [this] { return look().number("select count(*) from atone.saga where business_key like 'sql-%'") == 64; };
  EXPECT_TRUE(comes_true(made, patience));
  all_end_well();
}

TEST_F(cluster_reports_long, b33_parked_sagas_stay_parked_whoever_drives_them) {
  ASSERT_NO_FATAL_FAILURE(start_all({"a", "b", "c"}));
  publish("saga: stuck\nversion: 1\nservices: {shop: {http: \"" + participant.url() +
          "\"}}\nsteps:\n  - id: made\n    call: shop POST /made\n    compensate: {call: shop POST /refuse}\n  - {id: over, fail: {reason: "
          "over}}\n");
  participant.refuse("/refuse");
  constexpr int sagas = 20;
  for (int each = 0; each < sagas; ++each) {
    auto const node = std::string{"abc"}.substr(static_cast<std::size_t>(each % 3), 1);
    ASSERT_EQ(ask(node, "POST", "/v1/sagas/stuck", "{}", "stuck-" + std::to_string(each)).response.status, 201);
  }
  auto const parked = [this] { return look().number("select count(*) from atone.sagas where status = 'parked'"); };
  ASSERT_TRUE(comes_true([&] { return parked() == sagas; }, patience));
  for (auto const* node : {"a", "b"}) {
    kill(node);
    ASSERT_TRUE(balances(patience));
    start(node);
    ASSERT_TRUE(balances(patience));
  }
  EXPECT_EQ(parked(), sagas);
}

// Wall clocks far apart: leases and waits are counted by clocks of durations, and what is due is judged by the database's.
TEST_F(cluster_reports_long, b45_nodes_whose_clocks_differ_by_minutes) {
  auto const skewed = [](char const* seconds) {
    return std::vector<std::string>{"LD_PRELOAD=" SKEWED_CLOCK, std::string{"SKEWED_CLOCK_SECONDS="} + seconds};
  };
  start("a", skewed("90"));
  start("b", skewed("-90"));
  start("c");
  ASSERT_NO_FATAL_FAILURE(begin_all({}));
  auto const before = look().nodes();
  lasts(2 * lease);
  for (auto const& [name, row] : look().nodes()) EXPECT_EQ(row.epoch, before.at(name).epoch) << name << " was fenced, and lives";
  // A step that is not answered is given up after its own time on every one of them, no sooner and not much later.
  participant.hold("slow", true);
  publish("saga: timed\nversion: 1\nservices: {shop: {http: \"" + participant.url() +
          "\"}}\nsteps:\n  - {id: slow, call: shop POST /slow, timeout: 3s, attempt_timeout: 2s, compensate: {call: shop POST /undo}}\n");
  std::map<std::string, moment> begun;
  for (auto const* node : {"a", "b", "c"}) {
    begun[field(ask(node, "POST", "/v1/sagas/timed", "{}", std::string{"timed-"} + node), "id")] = now();
  }
  auto const undone = [&](std::vector<arrival> const& came) {
    return std::count_if(came.begin(), came.end(), [&](arrival const& one) { return one.undo && begun.contains(one.saga); }) == 3;
  };
  ASSERT_TRUE(participant.comes_true(undone, patience));
  participant.hold("slow", false);
  for (auto const& one : participant.arrivals()) {
    if (!one.undo || !begun.contains(one.saga)) continue;
    auto const took = std::chrono::duration_cast<span>(one.at - begun.at(one.saga));
    EXPECT_GT(took, 2900ms);
    EXPECT_LT(took, 5s);
  }
  // And taken over by a node of another time.
  kill("a");
  starts.doors(urls());
  EXPECT_TRUE(comes_true([this] { return look().balanced({"b", "c"}); }, patience));
  all_end_well();
}

// What a participant may rely on to tell a coordinator that was taken over from the one that drives the saga now.
TEST_F(cluster_reports, b35_the_epoch_of_a_sagas_requests_never_goes_down) {
  ASSERT_NO_FATAL_FAILURE(begin_all());
  kill("c");  // the one that came last
  starts.doors(urls());
  all_end_well();
  std::map<std::string, std::uint64_t> highest;
  std::set<std::string> down;
  for (auto const& one : participant.arrivals()) {
    auto& known = highest[one.saga];
    if (one.epoch < known) down.insert(one.saga);
    known = std::max(known, one.epoch);
  }
  EXPECT_TRUE(down.empty()) << down.size() << " of " << highest.size() << " sagas";
}

// Definitions are published, and their sagas started in everybody's shards, while a node is just reading what it is to drive.
TEST_F(cluster_reports, b39_a_definition_published_while_a_node_comes_back_is_known_to_it) {
  ASSERT_NO_FATAL_FAILURE(start_all({"a", "b"}));
  participant.answer_after(1ms);
  std::atomic<bool> over{false};
  auto publishing = std::async(std::launch::async, [&] {
    int number = 0;
    for (int made = 0; !over; ++made) {
      auto const saga = "fresh-" + std::to_string(made);
      publish(definition_of(saga, participant.url(), "shard_key: =input.n\n"));
      for (int each = 0; each < 4; ++each, ++number) {
        EXPECT_EQ(ask("a", "POST", "/v1/sagas/" + saga, R"({"n": )" + std::to_string(number) + "}").response.status, 201);
      }
    }
  });
  int const rounds = long_form() ? 50 : 6;
  for (int round = 0; round < rounds; ++round) {
    auto const before = participant.count();
    kill("b");
    start("b");
    EXPECT_TRUE(participant.comes_true([&](std::vector<arrival> const& came) { return came.size() > before + 50; }, patience));
  }
  over = true;
  publishing.get();
  auto const parked = [this] { return look().number("select count(*) from atone.sagas where status = 'parked'"); };
  EXPECT_TRUE(comes_true([&] { return look().open_sagas() == parked(); }, patience));
  EXPECT_EQ(parked(), 0) << look().word("select max(cause) from atone.sagas where status = 'parked'");
}

// A call that is not answered holds up its own saga, not those beside it.
TEST_F(cluster_reports, a_call_that_hangs_does_not_hold_up_the_others_of_a_node_that_stops) {
  ASSERT_NO_FATAL_FAILURE(start_all({"a", "b", "c"}));
  publish("saga: hanging\nversion: 1\nservices: {shop: {http: \"" + participant.url() +
          "\"}}\nsteps:\n  - {id: slow, call: shop POST /slow, attempt_timeout: 8s, compensate: {call: shop POST /undo}}\n");
  ASSERT_NO_FATAL_FAILURE(await_driving("b"));
  participant.hold("slow", true);
  auto const hanging = field(ask("b", "POST", "/v1/sagas/hanging", "{}", "hanging"), "id");
  ASSERT_FALSE(hanging.empty());
  ASSERT_NO_FATAL_FAILURE(begin_load());
  std::string const leaving = "b";
  starts.doors({at("a").url(), at("c").url()});
  auto const asked = now();
  at("b").signal(SIGTERM);
  EXPECT_EQ(at("b").wait_for(patience), 0);
  auto const ended = since(asked);
  measured("SIGTERM until its end", ended);
  EXPECT_LT(ended, 4s) << "it waited for an answer that is another node's to get";
  participant.hold("slow", false);
  all_end_well();
  auto const gap = longest_pause(leaving, hanging);
  measured("longest pause of a saga that was handed over", gap);
  EXPECT_LT(gap, 1s);
}

// Calls that take longer than a hand-over waits for them.
TEST_F(cluster_reports_long, slow_participants_do_not_keep_a_new_node_from_its_share) {
  ASSERT_NO_FATAL_FAILURE(start_all({"a", "b"}));
  publish("saga: slow\nversion: 1\ninput: {type: object, required: [n], properties: {n: {type: integer}}}\nservices: {shop: {http: \"" +
          participant.url() +
          "\"}}\ndefaults: {attempt_timeout: 20s}\nsteps:\n"
          "  - {id: s1, call: shop POST /s1, compensate: {call: shop POST /undo}}\n"
          "  - {id: s2, call: shop POST /s2, compensate: {call: shop POST /undo}}\n");
  participant.answer_after(7s);
  load slow{{"slow"}, 20};
  slow.doors(urls());
  slow.begin();
  ASSERT_TRUE(participant.comes_true([](std::vector<arrival> const& came) { return came.size() > 60; }, patience));
  auto const joined = now();
  start("c");
  EXPECT_TRUE(balances(patience)) << "not within " << patience.count() << " ms";
  measured("join until balanced, with calls of seven seconds", since(joined));
  EXPECT_TRUE(slow.end(patience));
  std::map<std::pair<std::string, std::string>, moment> came;
  span pause{0};
  participant.answer_after(1ms);
  EXPECT_TRUE(comes_true([this] { return look().open_sagas() == 0; }, patience));
  for (auto const& one : participant.arrivals()) came.emplace(std::pair{one.saga, one.step}, one.at);
  for (auto const& [of, at] : came) {
    if (of.second == "s2") pause = std::max(pause, std::chrono::duration_cast<span>(at - came.at({of.first, "s1"})));
  }
  measured("longest time from a call to the next", pause);
}

}  // namespace
}  // namespace atone::test
