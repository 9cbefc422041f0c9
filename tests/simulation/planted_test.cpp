// Every bug that was planted is found, within a bounded number of seeds: a checker that finds nothing is worth nothing.
#include <iostream>
#include <random>

#include <gtest/gtest.h>

#include "plantings.hpp"
#include "run.hpp"

namespace atone::simulation {
namespace {

constexpr std::uint64_t seeds_max = 3000;

TEST(planted, every_bug_is_found) {
  std::random_device chance;
  auto const first = std::uint64_t{chance()} << 20U;
  std::cout << "seed " << first << std::endl;
  for (auto const bug : all_planted()) {
    auto const made = hunt(bug, first, seeds_max);
    EXPECT_TRUE(made.checker.has_value()) << name(bug) << " was not found in " << made.seeds << " seeds";
    std::cout << name(bug) << ": " << made.checker.value_or("not found") << " after " << made.seeds << " seeds\n";
  }
  EXPECT_GE(all_planted().size(), 30U);
}

TEST(planted, without_a_bug_this_build_finds_nothing) {
  EXPECT_FALSE(hunt(planted_bug::none, 1, 50).checker.has_value());
}

}  // namespace
}  // namespace atone::simulation
