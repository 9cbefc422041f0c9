// Planted bugs: faults that were put into the code on purpose (schemas/src/planted), each of which some checker must find.
// Thread rules: one thread; at most one bug is on.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planted.hpp"

namespace atone::simulation {

std::string_view name(planted_bug bug) noexcept;
// Every bug there is; empty in a build without them.
std::vector<planted_bug> all_planted();
void switch_on(planted_bug bug) noexcept;

// What a hunt for one of them came to.
struct hunt_report {
  planted_bug bug = planted_bug::none;
  std::optional<std::string> checker;  // that found it; nothing: nobody did
  std::string text;
  std::uint64_t seed = 0;
  std::uint64_t seeds = 0;
  std::uint64_t sagas = 0;
  double seconds = 0;

  hunt_report() = default;
};
// Runs seeds from `first` on until one fails, at most so many.
hunt_report hunt(planted_bug bug, std::uint64_t first, std::uint64_t seeds_max);
// All of them, or the one that is named; prints a table. False: some were not found.
bool hunt_all(std::ostream& to, std::uint64_t first, std::uint64_t seeds_max, std::string const& only);

}  // namespace atone::simulation
