// The kernels, emulated, against the CPU's engine, bit for bit, over drawn sets and events; the seed is printed first, ATONE_FEATURE_SEED
// repeats one and ATONE_DEVICE_ROUNDS says how many.
#include <cstdlib>
#include <iostream>
#include <random>

#include <gtest/gtest.h>

#include "compare.hpp"

namespace atone::features_test {
namespace {

std::uint64_t number_of(char const* variable, std::uint64_t otherwise) {
  auto const* given = std::getenv(variable);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

TEST(features_device, emulated_kernels_give_the_bits_of_the_cpu) {
  auto const seed = number_of("ATONE_FEATURE_SEED", std::random_device{}());
  std::cout << "seed " << seed << std::endl;
  auto const rounds = number_of("ATONE_DEVICE_ROUNDS", ATONE_DEVICE_ROUNDS);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("ATONE_FEATURE_SEED=" + std::to_string(seed) + ", round " + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(compare_drawn(seed, round, emulated_plugin()));
  }
}

}  // namespace
}  // namespace atone::features_test
