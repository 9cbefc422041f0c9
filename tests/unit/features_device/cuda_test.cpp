// The plug-in on a real device: skipped, with the reason, where there is none. What the emulation can't show is seen here only.
#include <iostream>
#include <random>

#include <gtest/gtest.h>

#include "compare.hpp"

namespace atone::features_test {
namespace {

using namespace features;

class features_cuda : public testing::Test {
 protected:
  void SetUp() override {
    auto const found = look_for_gpus(ATONE_CUDA_PLUGIN);
    ASSERT_TRUE(found) << found.error().message;
    if (!found->no_device.empty()) GTEST_SKIP() << "skipped, because there is no CUDA device: " << found->no_device;
  }
};

// Without a device too: the plug-in loads, is of this version and tells what it is.
TEST(features_cuda_plugin, loads_where_no_driver_is) {
  auto const found = look_for_gpus(ATONE_CUDA_PLUGIN);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NE(found->built, "");
  EXPECT_EQ(found->devices.empty(), !found->no_device.empty());
}

TEST(features_cuda_plugin, opening_without_a_device_says_why) {
  auto const found = look_for_gpus(ATONE_CUDA_PLUGIN);
  ASSERT_TRUE(found) << found.error().message;
  gpu_options options;
  options.plugin = ATONE_CUDA_PLUGIN;
  auto const done = compare_gpu_with_cpu(options);
  if (found->no_device.empty()) {
    EXPECT_TRUE(done) << done.error().message;
    return;
  }
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::unavailable);
  EXPECT_NE(done.error().message.find(found->no_device), std::string::npos) << done.error().message;
}

TEST_F(features_cuda, gives_the_bits_of_the_cpu_over_drawn_sets) {
  auto const seed = std::uint64_t{std::random_device{}()};
  std::cout << "seed " << seed << std::endl;
  for (std::uint64_t round = 0; round < 2000; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(compare_drawn(seed, round, ATONE_CUDA_PLUGIN));
  }
}

TEST_F(features_cuda, gives_the_bits_of_the_cpu_for_the_canary_on_every_device) {
  auto const found = look_for_gpus(ATONE_CUDA_PLUGIN);
  for (auto const& one : found->devices) {
    gpu_options options;
    options.plugin = ATONE_CUDA_PLUGIN;
    options.device = one.number;
    auto const done = compare_gpu_with_cpu(options);
    EXPECT_TRUE(done) << one.name << ": " << done.error().message;
  }
}

}  // namespace
}  // namespace atone::features_test
