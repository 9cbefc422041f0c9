// When the rate of sagas is back after a fault, and stays: pure arithmetic over the moments at which they ended.
//
// The usual rate is how many sagas ended a second during the warm-up: what comes after it, slow rests too, can't lower it. The rate is back
// at the first moment from which on, for a while, as many end in each second as belong to the share of the usual rate that is asked for;
// what is told is the time from the fault's end to that moment. Where few sagas end, a longer time than a second is looked at. Thread
// rules: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <atone/time.hpp>

namespace atone::drill {

// So many ends within each stretch of that length.
struct wanted_rate {
  std::uint64_t ends = 0;  // 0: nothing ever ended, so there is nothing to measure by
  duration within{};

  wanted_rate() = default;
};

// Calm time and what ended in it.
struct usual_rate {
  static constexpr duration window = std::chrono::seconds{1};
  static constexpr std::uint64_t ends_least = 10;  // within a window, at the usual rate: of fewer one more or less would decide

  duration calm{};
  std::uint64_t ended = 0;

  usual_rate() = default;
  void add(duration time, std::uint64_t sagas) {
    calm += time;
    ended += sagas;
  }
  double per_second() const noexcept;
  // `percent` of it, rounded down to whole sagas, but one at least.
  wanted_rate share(std::uint32_t percent) const noexcept;
};

// The first moment from `from` on with which `wanted` holds, in each of its stretches that begins until `stays` less such a stretch later;
// nothing: not yet. `ends` is in rising order.
std::optional<duration> recovered_at(std::vector<duration> const& ends, duration from, wanted_rate const& wanted, duration stays);

// The longest time between `from` and `until` in which nothing ended.
duration longest_gap(std::vector<duration> const& ends, duration from, duration until);

}  // namespace atone::drill
