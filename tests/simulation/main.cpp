// The simulation as a program: fresh seeds for as long as wanted, one seed again, or a kept list of them.
#include <iostream>
#include <random>

#include "campaign.hpp"
#include "options.hpp"
#include "plantings.hpp"

namespace atone::simulation {
namespace {

constexpr std::uint64_t hunt_seeds_max = 5000;

std::uint64_t fresh_seed() {
  std::random_device chance;
  return (std::uint64_t{chance()} << 20U) | (chance() & 0xFFFFFU);
}

int simulate(program_options const& with) {
  campaign runs{std::cout};
  runs.trace(with.trace);
  runs.shrink(with.shrink);
  if (!with.replay.empty()) {
    for (auto const seed : kept_seeds(with.replay)) runs.run_one(seed);
  } else {
    auto const first = with.seed.value_or(fresh_seed());
    std::cout << "seed " << first << std::endl;
    auto const begun = std::chrono::steady_clock::now();
    std::chrono::duration<double> const limit{with.minutes.value_or(0) * 60};
    for (std::uint64_t done = 0; with.minutes ? std::chrono::steady_clock::now() - begun < limit : done < with.seeds.value_or(1); ++done) {
      runs.run_one(first + done);
    }
  }
  runs.report();
  return runs.failed() > 0 ? 1 : 0;
}

int plant(program_options const& with) {
  auto const first = with.seed.value_or(fresh_seed());
  std::cout << "seed " << first << std::endl;
  return hunt_all(std::cout, first, with.seeds.value_or(hunt_seeds_max), with.only) ? 0 : 1;
}

}  // namespace
}  // namespace atone::simulation

int main(int count, char** words) {
  using namespace atone::simulation;
  std::string wrong;
  auto const with = read_options({words + 1, words + count}, wrong);
  if (!with || with->help) {
    (with ? std::cout : std::cerr) << (with ? "" : wrong + "\n") << usage;
    return with ? 0 : 2;
  }
  try {
    return with->planted ? plant(*with) : simulate(*with);
  } catch (std::exception const& failed) {
    std::cerr << failed.what() << '\n';
    return 2;
  }
}
