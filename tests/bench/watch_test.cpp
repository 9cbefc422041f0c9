// What grows without end is found, and what only rises at the beginning is not taken for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "watch.hpp"

namespace bench {
namespace {

watched_figure const memory{"resident", figure_kind::level, 1.25, 32};
watched_figure const cpu{"cpu", figure_kind::counter, 2, 100};

std::vector<look> looks(std::size_t count, std::function<double(double)> const& value) {
  std::vector<look> made;
  for (std::size_t n = 0; n < count; ++n) made.emplace_back(100 * n, value(static_cast<double>(n)));
  return made;
}

bool grows(watched_figure const& of, std::vector<look> const& seen) {
  auto const judged = judge_growth(of, seen);
  EXPECT_TRUE(judged);
  return judged && judged->grows;
}

TEST(bench_watch, a_level_that_climbs_all_the_time_is_found) {
  EXPECT_TRUE(grows(memory, looks(100, [](double n) { return 100 + 4 * n; })));
}

TEST(bench_watch, a_level_that_has_come_to_its_height_is_fine) {
  EXPECT_FALSE(grows(memory, looks(100, [](double n) { return n < 20 ? 20 * n : 400; })));
  EXPECT_FALSE(grows(memory, looks(100, [](double n) { return 400 + 50 * std::sin(n); })));
}

// 2,500 sagas from one quarter to the next: 0.02 a saga are 50.
TEST(bench_watch, what_is_kept_of_each_saga_is_found) {
  watched_figure const held{"resident", figure_kind::held, 1, 8, 0.001};
  EXPECT_TRUE(grows(held, looks(100, [](double n) { return 400 + 2 * n; })));
  EXPECT_FALSE(grows(held, looks(100, [](double n) { return 400 + 0.1 * n; })));
  EXPECT_FALSE(grows(held, looks(100, [](double n) { return n < 40 ? 20 * n : 800; }))) << "it came to its height in the first half";
}

TEST(bench_watch, one_handle_in_a_hundred_that_is_not_closed_is_found) {
  watched_figure const handles{"descriptors", figure_kind::level, 1.1, 64};
  EXPECT_TRUE(grows(handles, looks(100, [](double n) { return 2600 + 10 * n; })));
}

TEST(bench_watch, a_counter_may_rise_but_not_ever_faster) {
  EXPECT_FALSE(grows(cpu, looks(100, [](double n) { return 30'000 * n; })));
  EXPECT_TRUE(grows(cpu, looks(100, [](double n) { return 600 * n * n; })));
}

TEST(bench_watch, too_little_to_judge_by_is_no_verdict) {
  EXPECT_FALSE(judge_growth(memory, looks(looks_least - 1, [](double n) { return n; })));
  std::vector<look> idle(20, look{5, 7});
  EXPECT_FALSE(judge_growth(cpu, idle)) << "no saga ended";
  std::vector<look> stalled;
  for (std::uint64_t n = 0; n < 100; ++n) stalled.emplace_back(std::min<std::uint64_t>(n, 50) * 100, 7);
  EXPECT_FALSE(judge_growth(cpu, stalled)) << "none in the second half";
  EXPECT_FALSE(judge_growth(watched_figure{"resident", figure_kind::held, 1, 8, 0.001}, stalled));
}

}  // namespace
}  // namespace bench
