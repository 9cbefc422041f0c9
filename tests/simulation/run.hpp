// One seed from the drawing of its definitions to its verdict. Thread rules: plain functions; runs are independent of each other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "judge.hpp"
#include "world.hpp"

namespace atone::simulation {

struct run_report {
  std::uint64_t seed = 0;
  std::uint64_t sagas = 0;
  std::uint64_t crashes = 0;
  std::uint64_t happenings = 0;
  std::uint64_t checks = 0;
  std::uint64_t parkings = 0;
  std::uint64_t fingerprint = 0;
  std::map<saga_status, std::uint64_t> ends;
  std::vector<violation> violations;
  std::vector<happened> faults;
  std::array<std::uint64_t, fault_kinds> asked{};  // how often each kind could have happened
  std::string trace;

  run_report() = default;
};

// The definitions that a seed draws.
std::vector<blueprint> definitions_of(std::uint64_t seed);
run_report run(world_settings const& settings, std::vector<blueprint> const& definitions);
run_report run_seed(std::uint64_t seed, bool trace = false);
// Takes away faults one after the other as long as the same checker still objects. Deterministic.
std::vector<happened> shrink(std::uint64_t seed, run_report const& failed);

}  // namespace atone::simulation
