// Who is gone, who takes what, who gives what: by each coordinator's own watch.
#include <gmock/gmock.h>

#include <numeric>

#include "runtime/lease_policy.hpp"

namespace atone::test {
namespace {

using namespace std::chrono_literals;
using runtime::lease_policy;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr duration lease = 2s;

// Members 1, 2 … that hold so many of the shards each, in the order of the shards; `free` ones behind them.
roster standing(std::vector<std::size_t> const& counts, std::size_t free = 0, std::uint16_t self = 1) {
  roster made;
  made.self = writer_number{self};
  std::uint16_t next = 0;
  for (std::size_t at = 0; at < counts.size(); ++at) {
    member one;
    one.number = writer_number{static_cast<std::uint16_t>(at + 1)};
    one.node = node_id{"node-" + std::to_string(at + 1)};
    one.lease = lease;
    one.epoch = epoch{at + 1};
    one.progress = 1;
    one.alive = true;
    for (std::size_t n = 0; n < counts[at]; ++n) one.held.emplace_back(next++);
    made.members.push_back(std::move(one));
  }
  for (std::size_t n = 0; n < free; ++n) made.free.emplace_back(next++);
  return made;
}

std::vector<std::string> names(std::vector<member> const& of) {
  std::vector<std::string> found;
  for (auto const& one : of) found.push_back(one.node.value());
  return found;
}

TEST(lease_policy, who_shows_no_progress_for_a_whole_lease_is_gone) {
  lease_policy policy{lease};
  auto const still = standing({1, 1});
  duration now = 100s;
  for (; now < 102s; now += 250ms) EXPECT_THAT(policy.decide(still, now, now).gone, IsEmpty());
  EXPECT_THAT(names(policy.decide(still, now, now).gone), ElementsAre("node-2"));
}

TEST(lease_policy, progress_within_the_lease_begins_it_anew) {
  lease_policy policy{lease};
  auto seen = standing({1, 1});
  for (duration now = 0s; now < 20s; now += 250ms) {
    if (now % 1750ms == 0s) ++seen.members[1].progress;
    EXPECT_THAT(policy.decide(seen, now, now).gone, IsEmpty());
  }
}

TEST(lease_policy, a_new_epoch_is_progress_whatever_its_counter_says) {
  lease_policy policy{lease};
  auto seen = standing({1, 1});
  for (duration now = 0s; now < 20s; now += 250ms) {
    if (now % 1750ms == 0s) seen.members[1].epoch = epoch{seen.members[1].epoch.value() + 1};
    EXPECT_THAT(policy.decide(seen, now, now).gone, IsEmpty());
  }
}

TEST(lease_policy, after_an_outage_of_the_store_everybody_has_a_whole_lease_again) {
  lease_policy policy{lease};
  auto const seen = standing({1, 1});
  duration now = 0s;
  for (; now < 1750ms; now += 250ms) EXPECT_THAT(policy.decide(seen, now, now).gone, IsEmpty());
  policy.blinded();
  auto const back = now + 10s;
  for (now = back; now < back + lease; now += 250ms) EXPECT_THAT(policy.decide(seen, now, now).gone, IsEmpty());
  EXPECT_THAT(names(policy.decide(seen, now, now).gone), ElementsAre("node-2"));
}

TEST(lease_policy, a_watcher_that_was_stopped_itself_judges_nobody_by_it) {
  lease_policy policy{lease};
  auto const seen = standing({1, 1});
  EXPECT_THAT(policy.decide(seen, 0s, 0s).gone, IsEmpty());
  EXPECT_THAT(policy.decide(seen, 60s, 60s).gone, IsEmpty()) << "it saw nothing of the minute between";
}

TEST(lease_policy, each_is_judged_by_its_own_lease) {
  lease_policy policy{10s};
  auto seen = standing({1, 1, 1});
  seen.members[2].lease = 5s;
  EXPECT_THAT(policy.decide(seen, 0s, 0s).gone, IsEmpty());
  EXPECT_THAT(names(policy.decide(seen, 3s, 3s).gone), ElementsAre("node-2"));
  EXPECT_THAT(names(policy.decide(seen, 5s, 5s).gone), ElementsAre("node-2", "node-3"));
}

TEST(lease_policy, neither_itself_nor_who_has_left_is_ever_gone) {
  lease_policy policy{lease};
  auto seen = standing({1, 1});
  seen.members[1].alive = false;
  for (duration now = 0s; now < 10s; now += 250ms) EXPECT_THAT(policy.decide(seen, now, now).gone, IsEmpty());
}

TEST(lease_policy, the_first_alone_takes_everything) {
  EXPECT_EQ(lease_policy{lease}.decide(standing({0}, 64), 0s, 0s).claim, 64U);
}

TEST(lease_policy, what_is_free_is_shared_and_nobody_gives_meanwhile) {
  auto const made = lease_policy{lease}.decide(standing({22, 21, 0}, 21, 2), 0s, 0s);
  EXPECT_EQ(made.claim, 0U) << "it has its share";
  EXPECT_THAT(made.give, IsEmpty());
  EXPECT_EQ(lease_policy{lease}.decide(standing({22, 21, 0}, 21, 3), 0s, 0s).claim, 21U);
}

TEST(lease_policy, a_newcomer_is_given_its_share_by_those_that_have_too_many) {
  for (std::uint16_t self : {1, 2}) {
    auto const made = lease_policy{lease}.decide(standing({32, 32, 0}, 0, self), 0s, 0s);
    EXPECT_EQ(made.give.size(), self == 1 ? 10U : 11U);
    for (auto const& one : made.give) EXPECT_EQ(one.to, writer_number{3});
  }
  EXPECT_THAT(lease_policy{lease}.decide(standing({32, 32, 0}, 0, 3), 0s, 0s).give, IsEmpty());
}

TEST(lease_policy, what_is_balanced_stays_where_it_is) {
  for (std::uint16_t self : {1, 2, 3}) {
    EXPECT_THAT(lease_policy{lease}.decide(standing({21, 22, 21}, 0, self), 0s, 0s).give, IsEmpty());
  }
}

// However many come and go: when everybody carries out what it decided, all are level at once, and nothing moves again.
TEST(lease_policy, any_standing_is_level_after_one_round_and_then_still) {
  for (auto const& counts :
       std::vector<std::vector<std::size_t>>{{64}, {64, 0}, {50, 10, 4}, {1, 1, 62}, {0, 0, 0, 64}, {7, 7, 7, 7, 36}}) {
    auto seen = standing(counts);
    for (int round = 0; round < 2; ++round) {
      std::vector<std::pair<shard, writer_number>> moved;
      for (auto const& one : seen.members) {
        seen.self = one.number;
        for (auto const& move : lease_policy{lease}.decide(seen, 0s, 0s).give) moved.emplace_back(move.shard, *move.to);
      }
      if (round == 1) {
        EXPECT_THAT(moved, IsEmpty());
      }
      for (auto const& [which, to] : moved) {
        for (auto& one : seen.members) std::erase(one.held, which);
        seen.members[to.value() - 1U].held.push_back(which);
      }
    }
    std::size_t least = 64, most = 0;
    for (auto const& one : seen.members) {
      least = std::min(least, one.held.size());
      most = std::max(most, one.held.size());
    }
    EXPECT_LE(most - least, 1U);
  }
}

TEST(lease_policy, shares_add_up_whatever_the_remainder) {
  auto const shares = runtime::fair_shares(standing({30, 20, 10}, 4));
  EXPECT_THAT(shares, ElementsAre(Pair(writer_number{1}, 22U), Pair(writer_number{2}, 21U), Pair(writer_number{3}, 21U)));
}

}  // namespace
}  // namespace atone::test
