// Every bug that was planted is found, within a bounded number of seeds: a checker that finds nothing is worth nothing.
#include <algorithm>
#include <iostream>

#include <gtest/gtest.h>

#include "plantings.hpp"
#include "run.hpp"

namespace atone::simulation {
namespace {

constexpr std::uint64_t seeds_max = 3000;

// From the same seed each time: what is asked here is whether the checkers see, not whether there is anything to see.
TEST(planted, every_bug_is_found) {
  for (auto const bug : all_planted()) {
    auto const made = hunt(bug, 1, seeds_max);
    EXPECT_TRUE(made.checker.has_value()) << name(bug) << " was not found in " << made.seeds << " seeds";
    std::cout << name(bug) << ": " << made.checker.value_or("not found") << " after " << made.seeds << " seeds" << std::endl;
  }
  EXPECT_GE(all_planted().size(), 30U);
}

// What is left of the list of faults still fails, and without any of it nothing does.
TEST(planted, a_failing_seed_shrinks_to_the_faults_that_matter) {
  auto const found = hunt(planted_bug::forget_unknown, 1, seeds_max);
  ASSERT_TRUE(found.checker.has_value());
  switch_on(planted_bug::forget_unknown);
  auto const failed = run_seed(found.seed);
  auto const least = shrink(found.seed, failed);
  auto settings = drawn_settings(found.seed);
  auto const fails_with = [&](std::vector<happened> const& faults) {
    settings.script.emplace(faults.begin(), faults.end());
    auto const made = run(settings, definitions_of(found.seed));
    return std::any_of(made.violations.begin(), made.violations.end(), [&](violation const& one) { return one.checker == found.checker; });
  };
  EXPECT_LT(least.size(), failed.faults.size());
  EXPECT_TRUE(fails_with(least));
  for (std::size_t without = 0; without < least.size(); ++without) {
    auto fewer = least;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(without));
    EXPECT_FALSE(fails_with(fewer)) << without;
  }
  switch_on(planted_bug::none);
}

TEST(planted, without_a_bug_this_build_finds_nothing) {
  EXPECT_FALSE(hunt(planted_bug::none, 1, 50).checker.has_value());
}

}  // namespace
}  // namespace atone::simulation
