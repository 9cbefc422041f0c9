// What becomes of sagas when coordinators are killed, stopped, hung and added, under load.
#include <future>

#include "cluster.hpp"

namespace atone::test {
namespace {

using cluster_nodes = cluster_test;

TEST_F(cluster_nodes, b30_a_killed_nodes_sagas_go_on_at_the_others) {
  ASSERT_NO_FATAL_FAILURE(begin_all());
  std::string const dead = "b";
  auto const killed = now();
  kill("b");
  auto const open = look().open_sagas_of("b");
  starts.doors(urls());
  ASSERT_FALSE(open.empty());
  auto const moved = moves(open, dead, killed);
  ASSERT_TRUE(moved.first);
  measured("kill to the first request of another node", *moved.first);
  measured("kill until all of its " + std::to_string(moved.sagas) + " open sagas have moved", *moved.last);
  EXPECT_LT(*moved.first, 3s);
  EXPECT_LT(*moved.last, 4s);
  EXPECT_EQ(sent_by(dead, killed + 100ms), 0u);
  EXPECT_TRUE(balances(5s));
  all_end_well();
}

TEST_F(cluster_nodes, a_node_that_comes_back_within_its_lease_takes_its_own_sagas_at_once) {
  ASSERT_NO_FATAL_FAILURE(begin_all());
  auto const before = look().nodes().at("b");
  kill("b");
  auto const open = look().open_sagas_of("b");
  auto const restarted = now();
  start("b");
  measured("restart until it listens", since(restarted));
  auto const moved = moves(open, {}, restarted);
  ASSERT_TRUE(moved.first);
  measured("restart to its first request", *moved.first);
  measured("restart until all of its " + std::to_string(moved.sagas) + " open sagas go on", *moved.last);
  EXPECT_LT(*moved.first, 2s);
  auto const after = look().nodes();
  EXPECT_GT(after.at("b").epoch, before.epoch);
  EXPECT_EQ(after.at("b").shards, before.shards) << "its shards stay its own";
  all_end_well();
}

TEST_F(cluster_nodes, a_node_that_comes_back_later_gets_its_share_again) {
  ASSERT_NO_FATAL_FAILURE(begin_all());
  kill("b");
  starts.doors(urls());
  ASSERT_TRUE(comes_true([this] { return !look().nodes().at("b").alive; }, patience));
  ASSERT_TRUE(balances(5s));
  auto const restarted = now();
  start("b");
  starts.doors(urls());
  ASSERT_TRUE(balances(patience));
  measured("restart until balanced", since(restarted));
  EXPECT_LT(since(restarted), 5s);
  all_end_well();
}

TEST_F(cluster_nodes, a_node_that_is_asked_to_stop_hands_its_sagas_over_without_a_gap) {
  ASSERT_NO_FATAL_FAILURE(begin_all());
  std::string const leaving = "b";
  auto const open = look().open_sagas_of("b");
  starts.doors({at("a").url(), at("c").url()});
  auto const asked = now();
  at("b").signal(SIGTERM);
  auto const code = at("b").wait_for(patience);
  ASSERT_TRUE(code);
  measured("SIGTERM until its end", since(asked));
  EXPECT_EQ(*code, 0) << at("b").log();
  auto const moved = moves(open, leaving, asked);
  ASSERT_TRUE(moved.first);
  measured("SIGTERM to the first request of another node", *moved.first);
  auto const gap = longest_pause(leaving);
  measured("longest pause of a saga that was handed over", gap);
  EXPECT_LT(gap, 1s);
  all_end_well();
}

TEST_F(cluster_nodes, a_node_that_joins_gets_its_share_and_nobody_who_waits_is_forgotten) {
  ASSERT_NO_FATAL_FAILURE(begin_all());
  std::vector<std::future<http::exchange>> told;
  for (auto const& id : look().open_sagas_of("a")) {
    told.push_back(std::async(std::launch::async, [this, id] { return ask("a", "GET", "/v1/sagas/" + id + "/wait?timeout=20s"); }));
  }
  EXPECT_FALSE(told.empty());
  auto const joined = now();
  start("d");
  starts.doors(urls());
  ASSERT_TRUE(balances(patience));
  measured("join until balanced", since(joined));
  EXPECT_LT(since(joined), 5s);
  for (auto& one : told) EXPECT_THAT(field(one.get(), "status"), testing::AnyOf("completed", "compensated"));
  all_end_well();
}

TEST_F(cluster_nodes, b34_one_key_started_on_three_nodes_at_once_is_one_saga) {
  ASSERT_NO_FATAL_FAILURE(start_all({"a", "b", "c"}));
  participant.answer_after(1ms);
  int const keys = long_form() ? 2000 : 200;
  for (auto const* saga : {"order", "placed"}) {
    std::array<load, 3> callers{load{{saga}, 200}, load{{saga}, 200}, load{{saga}, 200}};
    std::size_t next = 0;
    for (auto const& url : urls()) callers[next++].doors({url});
    for (auto& one : callers) one.begin();
    auto const enough = [&] {
      return std::all_of(callers.begin(), callers.end(),
                         [&](load const& one) { return one.acknowledged().size() >= static_cast<std::size_t>(keys); });
    };
    EXPECT_TRUE(comes_true(enough, patience * 2));
    for (auto& one : callers) EXPECT_TRUE(one.end(patience));
    auto ids = callers[0].acknowledged();
    for (auto const& one : callers) {
      EXPECT_THAT(one.faults(), testing::IsEmpty());
      for (auto const& [number, id] : one.acknowledged()) EXPECT_EQ(ids.emplace(number, id).first->second, id) << "start " << number;
    }
    EXPECT_EQ(look().number(std::string{"select count(*) from atone.saga where definition = '"} + saga + "'"),
              static_cast<long>(ids.size()));
  }
  EXPECT_TRUE(comes_true([this] { return look().open_sagas() == 0; }, patience));
  auto const came = participant.arrivals();
  EXPECT_EQ(std::count_if(came.begin(), came.end(), [](arrival const& one) { return one.repeated; }), 0) << "a step was scheduled twice";
}

TEST_F(cluster_nodes, the_end_is_told_through_a_node_that_does_not_drive_the_saga) {
  ASSERT_NO_FATAL_FAILURE(start_all({"a", "b", "c"}));
  participant.hold("s5", true);
  auto const id = field(ask("a", "POST", "/v1/sagas/order", R"({"n": 1})", "told"), "id");
  ASSERT_FALSE(id.empty());
  std::vector<std::future<http::exchange>> told;
  for (auto const* node : {"a", "b", "c"}) {
    told.push_back(std::async(std::launch::async, [this, node, id] { return ask(node, "GET", "/v1/sagas/" + id + "/wait?timeout=20s"); }));
  }
  ASSERT_TRUE(participant.comes_true(
      [](std::vector<arrival> const& came) {
        return std::any_of(came.begin(), came.end(), [](arrival const& one) { return one.step == "s5"; });
      },
      patience));
  auto const freed = now();
  participant.hold("s5", false);
  for (auto& one : told) {
    auto const got = one.get();
    EXPECT_EQ(field(got, "status"), "completed") << got.response.status << got.response.body;
  }
  measured("end until all three nodes have told it", since(freed));
  EXPECT_LT(since(freed), 2s);
}

TEST_F(cluster_nodes, the_end_is_told_although_the_node_that_drove_the_saga_died) {
  ASSERT_NO_FATAL_FAILURE(start_all({"a", "b", "c"}));
  participant.hold("s5", true);
  auto const id = field(ask("b", "POST", "/v1/sagas/order", R"({"n": 1})", "told"), "id");
  ASSERT_FALSE(id.empty());
  auto told = std::async(std::launch::async, [this, id] { return ask("a", "GET", "/v1/sagas/" + id + "/wait?timeout=20s"); });
  auto const at_s5 = [](std::vector<arrival> const& came) { return !came.empty() && came.back().step == "s5"; };
  ASSERT_TRUE(participant.comes_true(at_s5, patience));
  kill("b");
  participant.hold("s5", false);
  EXPECT_EQ(field(told.get(), "status"), "completed");
}

}  // namespace
}  // namespace atone::test
