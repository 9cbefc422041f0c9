// What the tests of devices share: engines over one plug-in, and tables compared cell by cell.
#pragma once

#include <random>
#include <string>

#include <atone/features/gpu.hpp>

#include "random_sets.hpp"

namespace atone::features_test {

// The emulated plug-in: the kernels of the real one, on the host.
std::string emulated_plugin();

// Sizes at which a drawn history has entities of every size class and takes several batches.
features::gpu_options drawn_options(std::mt19937_64& random, std::string const& plugin, features::feature_set_ptr const& set);

// A test failure that names feature, window and row where two tables differ.
void expect_same_bits(features::feature_set const& set, features::feature_table const& device, features::feature_table const& host);

// One drawn set and history through every way of asking, on the plug-in's device 0 and on the CPU.
void compare_drawn(std::uint64_t seed, std::uint64_t round, std::string const& plugin);

}  // namespace atone::features_test
