// Semantic locks over real nodes: starts at every node, the driver killed, and never two sagas of one lock at work.
#include "cluster.hpp"

namespace atone::test {
namespace {

using cluster_locks = cluster_test;

constexpr int sagas_a_lock = 12;

TEST_F(cluster_locks, one_saga_a_lock_is_at_work_though_its_driver_is_killed) {
  ASSERT_NO_FATAL_FAILURE(start_all({"a", "b", "c"}));
  publish(definition_of("alone", participant.url(), "lock: =input.n % 2\n"));
  participant.answer_after(20ms);
  std::map<std::string, int> lock_of;
  auto const doors = names();
  auto door = doors.begin();
  for (int n = 0; n < 2 * sagas_a_lock; ++n) {
    auto const id = field(ask(*door, "POST", "/v1/sagas/alone", "{\"n\": " + std::to_string(n) + "}", "alone-" + std::to_string(n)), "id");
    ASSERT_FALSE(id.empty());
    lock_of[id] = n % 2;
    if (++door == doors.end()) door = doors.begin();
  }
  ASSERT_TRUE(participant.comes_true([](std::vector<arrival> const& came) { return came.size() > 20; }, patience));
  auto const driver = participant.arrivals().back().node;
  kill(driver);
  EXPECT_TRUE(comes_true([this] { return look().open_sagas() == 0; }, patience));
  std::map<int, std::vector<std::string>> turns;  // of each lock: whose requests came, one after the other
  for (auto const& one : participant.arrivals()) {
    auto& order = turns[lock_of.at(one.saga)];
    if (order.empty() || order.back() != one.saga) order.push_back(one.saga);
  }
  for (auto const& [lock, order] : turns) {
    EXPECT_EQ(order.size(), static_cast<std::size_t>(sagas_a_lock)) << "lock " << lock;
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), order.size()) << "two sagas of lock " << lock << " were at work in turn";
  }
  EXPECT_THAT(participant.faults(), testing::IsEmpty());
}

}  // namespace
}  // namespace atone::test
