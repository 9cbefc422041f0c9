// Rising pauses within a bound on the whole time: how every repeated attempt on PostgreSQL waits. Thread rules: one thread.
#pragma once

#include <chrono>
#include <optional>

namespace atone::postgres {

class rising_pause {
 public:
  rising_pause(std::chrono::milliseconds first, std::chrono::milliseconds total) : next_(first), total_(total) {}
  // Sleeps, each time twice as long; false, at once, when `total` has passed since the first call. What the attempts between
  // take counts too: one that hangs until its timeout may be the last.
  bool wait();

 private:
  using clock = std::chrono::steady_clock;

  std::chrono::milliseconds next_;
  std::chrono::milliseconds const total_;
  std::optional<clock::time_point> began_;
};

}  // namespace atone::postgres
