// A small list of faults that still breaks the same rule: chunks of the list are left out, from halves down to single ones, as long as
// the run still fails, and single ones again until none can be left out alone (Zeller, Hildebrandt: Simplifying and isolating
// failure-inducing input). What is left need not be the least of all lists.
#include <algorithm>

#include "run.hpp"

namespace atone::simulation {
namespace {

constexpr int runs_max = 3000;

class shrinking {
 public:
  shrinking(std::uint64_t seed, std::string checker)
      : definitions_(definitions_of(seed)), settings_(drawn_settings(seed)), checker_(std::move(checker)) {}

  bool still_fails(std::vector<happened> const& with) {
    ++runs_;
    auto settings = settings_;
    settings.script.emplace(with.begin(), with.end());
    auto const made = run(settings, definitions_);
    return std::any_of(made.violations.begin(), made.violations.end(), [&](violation const& one) { return one.checker == checker_; });
  }
  bool tired() const noexcept { return runs_ >= runs_max; }

 private:
  std::vector<blueprint> definitions_;
  world_settings settings_;
  std::string checker_;
  int runs_ = 0;
};

std::vector<happened> without(std::vector<happened> const& from, std::size_t at, std::size_t count) {
  auto made = from;
  auto const first = made.begin() + static_cast<std::ptrdiff_t>(at);
  made.erase(first, first + static_cast<std::ptrdiff_t>(std::min(count, from.size() - at)));
  return made;
}

}  // namespace

std::vector<happened> shrink(std::uint64_t seed, run_report const& failed) {
  if (failed.violations.empty()) return {};
  shrinking by{seed, failed.violations.front().checker};
  auto least = failed.faults;
  if (!by.still_fails(least)) return least;  // what is decided by more than the faults
  bool shorter = false;
  for (auto chunk = std::max<std::size_t>(1, least.size() / 2); chunk > 0 && !by.tired(); chunk = chunk == 1 && shorter ? 1 : chunk / 2) {
    shorter = false;
    for (std::size_t at = 0; at < least.size() && !by.tired();) {
      auto const fewer = without(least, at, chunk);
      if (by.still_fails(fewer)) {
        least = fewer;
        shorter = true;
      } else {
        at += chunk;
      }
    }
  }
  return least;
}

}  // namespace atone::simulation
