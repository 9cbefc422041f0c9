// The database in trouble below one coordinator and below three: nothing that was acknowledged is lost, nobody fences another that lives,
// and work goes on once the database is back.
#include "cluster.hpp"
#include "cutting_proxy.hpp"

namespace atone::test {
namespace {

constexpr span back_within{5000};  // from the database's return to the next acknowledged start

class cluster_takeover : public cluster_test {
 protected:
  void end_connections() { look().ask("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'atone'"); }
};

// For one coordinator and for three.
class cluster_outage : public cluster_takeover, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    cluster_takeover::SetUp();
    if (IsSkipped()) return;
    for (auto const* name : {"a", "b", "c"}) {
      if (static_cast<int>(nodes_.size()) < GetParam()) nodes_.insert(name);
    }
  }
  void begin() {
    start_all(nodes_);
    if (!HasFatalFailure()) begin_load();
    if (!HasFatalFailure()) before_ = look().nodes();
  }
  postgres_server& server() { return postgres_server::shared(); }
  // Starts are acknowledged again, by nodes that drive what they drove before.
  void goes_on(moment back) {
    EXPECT_TRUE(comes_true([&] { return starts.last_acknowledgement() > back; }, patience));
    measured("the database's return to the first acknowledged start",
             std::chrono::duration_cast<span>(starts.last_acknowledgement() - back));
    EXPECT_LT(starts.last_acknowledgement() - back, back_within);
    auto const asked = [&](std::vector<arrival> const& came) { return !came.empty() && came.back().at > back; };
    EXPECT_TRUE(participant.comes_true(asked, patience));
    measured("the database's return to the first request", since(back));
    // A lease and a little more: whoever was not seen by then would have been fenced.
    if (nodes_.size() > 1) lasts(lease + lease / 4);
    nobody_was_fenced();
    all_end_well();
  }
  void nobody_was_fenced() {
    auto const after = look().nodes();
    for (auto const& name : nodes_) {
      EXPECT_TRUE(at(name).running());
      EXPECT_TRUE(after.at(name).alive) << name;
      EXPECT_EQ(after.at(name).epoch, before_.at(name).epoch) << name << " was fenced, and lives";
    }
  }

  std::set<std::string> nodes_;
  std::map<std::string, node_row> before_;
};

std::string node_count(testing::TestParamInfo<int> const& of) {
  return std::to_string(of.param);
}

INSTANTIATE_TEST_SUITE_P(nodes, cluster_outage, testing::Values(3), node_count);
INSTANTIATE_TEST_SUITE_P(long, cluster_outage, testing::Values(1), node_count);

class cluster_outage_long : public cluster_outage {};

INSTANTIATE_TEST_SUITE_P(nodes, cluster_outage_long, testing::Values(1, 3), node_count);

TEST_P(cluster_outage, b36_b51_connections_that_are_ended_again_and_again_cost_nobody_its_lease) {
  ASSERT_NO_FATAL_FAILURE(begin());
  auto const rounds = long_form() ? 30 : 4;
  for (int round = 0; round < rounds; ++round) {
    end_connections();
    lasts(500ms);
  }
  end_connections();
  goes_on(now());
}

TEST_P(cluster_outage, b31_the_server_stopped_at_once_and_started_again) {
  ASSERT_NO_FATAL_FAILURE(begin());
  server().stop_at_once();
  lasts(long_form() ? 10s : 1s);
  server().start();
  goes_on(now());
}

TEST_P(cluster_outage, b51_a_port_that_swallows_everything) {
  cutting_proxy proxy{server().port()};
  reach_through("postgresql://atone@127.0.0.1:" + std::to_string(proxy.port()) + "/" + database());
  ASSERT_NO_FATAL_FAILURE(begin());
  proxy.swallow_everything(true);
  lasts(long_form() ? 60s : 4s);
  proxy.swallow_everything(false);
  goes_on(now());
  stop_all();  // before the proxy
}

TEST_P(cluster_outage_long, b48_a_server_that_takes_no_writes) {
  ASSERT_NO_FATAL_FAILURE(begin());
  server().psql("alter system set default_transaction_read_only = on");
  server().psql("select pg_reload_conf()");
  end_connections();
  lasts(long_form() ? 20s : 4s);
  server().psql("alter system reset default_transaction_read_only");
  server().psql("select pg_reload_conf()");
  goes_on(now());
}

using cluster_takeover_long = cluster_takeover;

// Whoever has just won the leases finds a database that takes no writes: it serves once it does.
TEST_F(cluster_takeover_long, b37_a_database_that_refuses_writes_just_after_the_leases_were_won) {
  start_all({"a", "b", "c"});
  ASSERT_NO_FATAL_FAILURE(begin_load());
  std::string const dead = "b";
  kill("b");
  auto const open = look().open_sagas_of("b");
  starts.doors(urls());
  ASSERT_TRUE(comes_true([this] { return !look().nodes().at("b").alive; }, patience));
  auto& server = postgres_server::shared();
  server.psql("alter system set default_transaction_read_only = on");
  server.psql("select pg_reload_conf()");
  end_connections();
  lasts(long_form() ? 30s : 4s);
  server.psql("alter system reset default_transaction_read_only");
  server.psql("select pg_reload_conf()");
  auto const back = now();
  auto const moved = moves(open, dead, back);
  if (moved.last) {
    measured("the database's return until all sagas of the dead node go on", *moved.last);
    EXPECT_LT(*moved.last, 2 * lease);
  }
  EXPECT_EQ(names(), (std::set<std::string>{"a", "c"}));
  all_end_well();
}

// Two servers of its own: the first one is lost.
class cluster_failover : public cluster_test {
 protected:
  void SetUp() override {
    ATONE_NEED_POSTGRES();
    primary_ = std::make_unique<postgres_server>();
    on(*primary_);
    cluster_test::SetUp();
    standby_ = std::make_unique<postgres_server>(postgres_server::standby_of{*primary_});
    primary_->psql("alter system set synchronous_standby_names = '*'");
    primary_->psql("select pg_reload_conf()");
    ASSERT_TRUE(comes_true([this] { return look().word("select sync_state from pg_stat_replication") == "sync"; }, patience));
  }
  void TearDown() override {
    cluster_test::TearDown();
    standby_.reset();
    primary_.reset();
  }
  std::string address(std::uint16_t first, std::uint16_t second) const {
    return "postgresql://atone@127.0.0.1:" + std::to_string(first) + ",127.0.0.1:" + std::to_string(second) + "/" + database();
  }
  void goes_on(moment back, std::map<std::string, node_row> const& before, span within = back_within) {
    EXPECT_TRUE(comes_true([&] { return starts.last_acknowledgement() > back; }, patience));
    measured("promotion to the first acknowledged start", std::chrono::duration_cast<span>(starts.last_acknowledgement() - back));
    EXPECT_LT(starts.last_acknowledgement() - back, within);
    lasts(lease + lease / 2);
    auto const after = look().nodes();
    for (auto const& name : names()) {
      EXPECT_TRUE(after.at(name).alive) << name;
      EXPECT_EQ(after.at(name).epoch, before.at(name).epoch) << name << " was fenced, and lives";
    }
    EXPECT_EQ(names().size(), before.size());
    all_end_well();
  }

  std::unique_ptr<postgres_server> primary_, standby_;
};

TEST_F(cluster_failover, b48_a_synchronous_standby_takes_over_from_a_server_that_is_lost) {
  reach_through(address(primary_->port(), standby_->port()));
  ASSERT_NO_FATAL_FAILURE(start_all({"a", "b", "c"}));
  ASSERT_NO_FATAL_FAILURE(begin_load());
  auto const before = look().nodes();
  primary_->stop_at_once();
  standby_->promote();
  look_at(*standby_);
  goes_on(now(), before);
}

using cluster_failover_long = cluster_failover;

// The machine is gone without a word: connections to it neither work nor end.
TEST_F(cluster_failover_long, b48_b51_a_synchronous_standby_takes_over_from_a_server_that_says_nothing_any_more) {
  cutting_proxy proxy{primary_->port()};
  reach_through(address(proxy.port(), standby_->port()));
  ASSERT_NO_FATAL_FAILURE(start_all({"a", "b", "c"}));
  ASSERT_NO_FATAL_FAILURE(begin_load());
  auto const before = look().nodes();
  proxy.swallow_everything(true);
  primary_->stop_at_once();
  standby_->promote();
  look_at(*standby_);
  // It has to be given up first: a renewal's limit, and libpq's two seconds for the first host, for the lease's connection and the
  // writer's.
  goes_on(now(), before, span{8000});
  stop_all();
}

}  // namespace
}  // namespace atone::test
