// The estimate of the database's time: corrected by commits, never back, never still.
#include <gtest/gtest.h>

#include "library/environment.hpp"

namespace atone::library {
namespace {

using namespace std::chrono_literals;

duration up{};  // how long the machine is up, as the tests have it
duration read_up() {
  return up;
}

class database_clock_test : public testing::Test {
 protected:
  database_clock_test() { up = 1h; }

  // A commit after `passed`, to which a database says that it is `at`.
  void commit(duration passed, timestamp at) {
    up += passed;
    clock_.observe(at, up, up);
  }

  timestamp const noon_{12h};
  database_clock clock_{(up = 1h, noon_), read_up};
};

TEST_F(database_clock_test, goes_on_between_commits) {
  up += 3s;
  EXPECT_EQ(clock_.now(), noon_ + 3s);
}

TEST_F(database_clock_test, a_clock_that_is_set_ahead_is_followed_at_once) {
  commit(1s, noon_ + 1h);
  EXPECT_EQ(clock_.now(), noon_ + 1h);
}

TEST_F(database_clock_test, what_fits_between_question_and_answer_moves_nothing) {
  up += 1s;
  clock_.observe(noon_ + 900ms, up - 200ms, up);
  EXPECT_EQ(clock_.now(), noon_ + 1s);
}

TEST_F(database_clock_test, a_clock_that_is_set_back_slows_it_down_and_stops_it_never) {
  auto last = clock_.now();
  auto const start = last;
  for (int n = 1; n <= 10'000; ++n) {
    commit(1ms, noon_ - 1h + n * 1ms);
    ASSERT_GE(clock_.now(), last) << n;
    last = clock_.now();
  }
  EXPECT_GE(last - start, 4900ms) << "half of the ten seconds that have passed";
  EXPECT_LE(last - start, 5100ms);
}

TEST_F(database_clock_test, after_a_long_time_without_a_commit_it_stands_still_for_a_moment_only) {
  commit(10min, noon_ - 1h);
  auto const before = clock_.now();
  up += 2 * database_clock::back_max;
  EXPECT_GE(clock_.now() - before, database_clock::back_max);
}

TEST_F(database_clock_test, agrees_in_the_end) {
  for (int n = 1; n <= 30'000; ++n) commit(10ms, noon_ - 1min + n * 10ms);
  EXPECT_EQ(clock_.now(), noon_ - 1min + 300s);
}

}  // namespace
}  // namespace atone::library
