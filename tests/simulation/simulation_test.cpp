// Seeds through the whole engine, several coordinators and all kinds of faults. The first seed is printed first, and a failing one repeats
// its run exactly (README.md). The same seeds each time unless ATONE_SEED says otherwise; those that failed once are kept in seeds.txt.
#include <cstdlib>
#include <iostream>
#include <random>

#include <gtest/gtest.h>

#include "campaign.hpp"
#include "options.hpp"
#include "sanitized.hpp"

namespace atone::simulation {
namespace {

constexpr std::uint64_t sagas_wanted = sanitized ? 5'000 : 120'000;
constexpr std::uint64_t usual_seed = 20'000'000;

std::uint64_t from_environment(char const* name, std::uint64_t otherwise) {
  auto const* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// The same seeds each time, so that a change is told by what it changes; ATONE_SEED=0 draws a fresh one.
std::uint64_t first_seed() {
  auto const named = from_environment("ATONE_SEED", usual_seed);
  if (named != 0) return named;
  std::random_device chance;
  return (std::uint64_t{chance()} << 20U) | (chance() & 0xFFFFFU);
}

TEST(simulation, kept_seeds_hold) {
  campaign runs{std::cout};
  for (auto const seed : kept_seeds(ATONE_SOURCE_DIR "/tests/simulation/seeds.txt")) EXPECT_TRUE(runs.run_one(seed)) << seed;
  EXPECT_GT(runs.sagas(), 0U);
}

TEST(simulation, seeds_end_atomically) {
  auto seed = first_seed();
  std::cout << "seed " << seed << std::endl;
  campaign runs{std::cout};
  auto const wanted = from_environment("ATONE_SAGAS", sagas_wanted);
  while (runs.sagas() < wanted && runs.failed() == 0) runs.run_one(seed++);
  runs.report();
  EXPECT_EQ(runs.failed(), 0U);
  EXPECT_GT(runs.crashes(), 0U);
}

TEST(simulation, a_seed_repeats_its_run) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto const one = run_seed(seed);
    auto const two = run_seed(seed, true);  // telling what happens changes nothing
    EXPECT_EQ(one.fingerprint, two.fingerprint) << "seed " << seed;
    EXPECT_EQ(one.happenings, two.happenings) << "seed " << seed;
    EXPECT_EQ(one.faults, two.faults) << "seed " << seed;
  }
}

// A script of the faults that chance drew is the same run: so a list of faults says everything.
TEST(simulation, a_list_of_faults_repeats_its_run) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto const drawn = run_seed(seed);
    auto settings = drawn_settings(seed);
    settings.script.emplace(drawn.faults.begin(), drawn.faults.end());
    auto const again = run(settings, definitions_of(seed));
    EXPECT_EQ(drawn.fingerprint, again.fingerprint) << "seed " << seed;
    EXPECT_EQ(drawn.faults, again.faults) << "seed " << seed;
  }
}

TEST(simulation, the_command_line_says_what_is_wrong_with_it) {
  std::string wrong;
  auto const fine = read_options({"--seed", "18446744073709551615", "--seeds", "3", "--trace"}, wrong);
  ASSERT_TRUE(fine.has_value()) << wrong;
  EXPECT_EQ(fine->seed, 18446744073709551615U);
  EXPECT_TRUE(fine->trace);
  EXPECT_FALSE(read_options({"--seed", "x"}, wrong).has_value());
  EXPECT_FALSE(read_options({"--seeds"}, wrong).has_value());
  EXPECT_FALSE(read_options({"--sed", "1"}, wrong).has_value());
  EXPECT_NE(wrong.find("--sed"), std::string::npos);
}

TEST(simulation, without_faults_everything_completes) {
  std::vector<blueprint> definitions;
  definitions.push_back(six_steps());
  world_settings calm;
  calm.sagas = 50;
  auto const made = run(calm, definitions);
  EXPECT_TRUE(made.violations.empty());
  EXPECT_EQ(made.ends.at(saga_status::completed), 50U);
}

TEST(simulation, seeds_are_as_different_as_they_should_be) {
  std::uint64_t leased = 0, alone = 0, pivots = 0, parallel = 0, fallbacks = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    ++(drawn_settings(seed).leased ? leased : alone);
    for (auto const& definition : definitions_of(seed)) {
      pivots += definition.pivot.has_value();
      for (auto const& [path, plan] : definition.steps) {
        parallel += path.find('/') != std::string::npos;
        fallbacks += plan.instead != stand_in::none;
      }
    }
  }
  for (auto const count : {leased, alone, pivots, parallel, fallbacks}) EXPECT_GT(count, 50U);
}

}  // namespace
}  // namespace atone::simulation
