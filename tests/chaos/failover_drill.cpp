// Several daemons on one PostgreSQL under load, and one fault after the other, drawn at random, for ATONE_DRILL_MINUTES (2): at the end
// every acknowledged saga has ended, with the effects that belong to it. ATONE_SEED repeats a run's faults.
#include <cstdlib>
#include <iostream>
#include <random>

#include "cluster.hpp"
#include "cutting_proxy.hpp"

namespace atone::test {
namespace {

constexpr span run_time_default{120s};

span run_time() {
  auto const* const given = std::getenv("ATONE_DRILL_MINUTES");
  return given == nullptr ? run_time_default
                          : std::chrono::duration_cast<span>(std::chrono::duration<double, std::ratio<60>>{std::atof(given)});
}

unsigned seed_of_run() {
  auto const* const given = std::getenv("ATONE_SEED");
  return given == nullptr ? std::random_device{}() : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
}

// Each node reaches the database through a proxy of its own.
class failover_drill : public cluster_test {
 protected:
  void start_by_proxy(std::string const& node) {
    auto& proxy = proxies_[node];
    if (!proxy) proxy = std::make_unique<cutting_proxy>(server().port());
    start(node, {}, "postgresql://atone@127.0.0.1:" + std::to_string(proxy->port()) + "/" + database());
    starts.doors(urls());
  }
  void TearDown() override {
    cluster_test::TearDown();
    proxies_.clear();
  }
  static postgres_server& server() { return postgres_server::shared(); }
  span draw(span least, span most) { return span{std::uniform_int_distribution<long>{least.count(), most.count()}(random_)}; }
  std::string draw_node() { return nodes_[random_() % nodes_.size()]; }
  void tell(std::string const& what) { std::cout << since(begun_).count() << " ms: " << what << std::endl; }

  void one_fault() {
    constexpr unsigned kinds = 8;
    switch (random_() % kinds) {
      case 0: return kill_one();
      case 1: return stop_one();
      case 2: return stall_one();
      case 3: return cut_off_one();
      case 4: return end_connections();
      case 5: return kill_two();
      case 6: return join_and_leave();
      default: return restart_server();
    }
  }
  void kill_one() {
    auto const node = draw_node();
    auto const away = draw(0ms, 2 * lease);
    tell("kill " + node + ", back after " + std::to_string(away.count()));
    kill(node);
    lasts(away);
    start_by_proxy(node);
  }
  void kill_two() {
    auto const first = random_() % nodes_.size();
    auto const& one = nodes_[first];
    auto const& other = nodes_[(first + 1) % nodes_.size()];
    auto const away = draw(0ms, 2 * lease);
    tell("kill " + one + " and " + other + ", back after " + std::to_string(away.count()));
    kill(one);
    kill(other);
    lasts(away);
    start_by_proxy(one);
    lasts(draw(0ms, lease));
    start_by_proxy(other);
  }
  void join_and_leave() {
    auto const stay = draw(0ms, 2 * lease);
    tell("a fourth joins for " + std::to_string(stay.count()));
    start_by_proxy("d");
    lasts(stay);
    if (random_() % 2 == 0) return kill("d");
    at("d").signal(SIGTERM);
    EXPECT_EQ(at("d").wait_for(patience), 0);
  }
  void stop_one() {
    auto const node = draw_node();
    tell("SIGTERM " + node);
    at(node).signal(SIGTERM);
    EXPECT_EQ(at(node).wait_for(patience), 0) << node;
    lasts(draw(0ms, lease));
    start_by_proxy(node);
  }
  void stall_one() {
    auto const node = draw_node();
    auto const time = draw(lease / 2, lease * 3 / 2);
    tell("stall " + node + " for " + std::to_string(time.count()));
    at(node).signal(SIGSTOP);
    lasts(time);
    at(node).signal(SIGCONT);
    back_if_fenced(node);
  }
  void cut_off_one() {
    auto const node = draw_node();
    auto const time = draw(lease / 2, lease * 3 / 2);
    tell("cut off " + node + " for " + std::to_string(time.count()));
    proxies_.at(node)->swallow_everything(true);
    lasts(time);
    proxies_.at(node)->swallow_everything(false);
    back_if_fenced(node);
  }
  void end_connections() {
    tell("end all connections");
    look().ask("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'atone'");
  }
  void restart_server() {
    auto const time = draw(0ms, lease * 3 / 2);
    tell("stop the server for " + std::to_string(time.count()));
    server().stop_at_once();
    lasts(time);
    server().start();
  }
  // Who was taken over ends by itself.
  void back_if_fenced(std::string const& node) {
    auto const code = at(node).wait_for(lease);
    if (!code) return;
    EXPECT_NE(*code, 0);
    tell(node + " was fenced, and has ended");
    start_by_proxy(node);
  }

  std::vector<std::string> const nodes_{"a", "b", "c"};
  std::map<std::string, std::unique_ptr<cutting_proxy>> proxies_;
  std::mt19937 random_;
  moment begun_ = now();
};

TEST_F(failover_drill, loses_and_doubles_nothing_whatever_fails) {
  auto const seed = seed_of_run();
  std::cout << "seed " << seed << std::endl;
  random_.seed(seed);
  for (auto const& node : nodes_) start_by_proxy(node);
  ASSERT_NO_FATAL_FAILURE(begin_all({}));
  begun_ = now();
  while (since(begun_) < run_time() && !HasFatalFailure()) {
    one_fault();
    note_ends();
    lasts(draw(0ms, 2 * lease));
  }
  EXPECT_TRUE(balances(patience));
  all_end_well();
  stop_all();
}

}  // namespace
}  // namespace atone::test
