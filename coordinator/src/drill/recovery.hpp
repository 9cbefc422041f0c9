// When sagas go on again after a fault: pure arithmetic over the moments at which they ended.
//
// The usual rate is how many sagas ended a second during the warm-up: what comes after it, slow rests too, can't lower it. Sagas go on
// again at the first moment at which, after the fault's end, half of what usually ends in one second has ended within one second. What is
// told is the time from the fault's end to that moment, so it is never shorter than the half second that a full rate needs to show itself.
// Thread rules: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <atone/time.hpp>

namespace atone::drill {

inline constexpr duration recovery_window = std::chrono::seconds{1};

// Calm time and what ended in it.
struct usual_rate {
  duration calm{};
  std::uint64_t ended = 0;

  usual_rate() = default;
  void add(duration time, std::uint64_t sagas) {
    calm += time;
    ended += sagas;
  }
  double per_second() const noexcept;
  // How many ends within recovery_window count as recovered; 0: nothing ever ended, so there is nothing to measure by.
  std::uint64_t half() const noexcept;
};

// The moment at which the `needed`-th saga of some window had ended, all of them after `from`; nothing: not yet. `ends` is in rising order.
std::optional<duration> recovered_at(std::vector<duration> const& ends, duration from, std::uint64_t needed);

}  // namespace atone::drill
