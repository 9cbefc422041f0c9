// Puts sagas on a target and times them. Closed loop: a fixed number is under way, each end starts the next. Open loop: they
// arrive at random moments (Poisson) whatever the target does, and a saga's time runs from its planned moment, so that a target
// that stalls is charged for all who would have come meanwhile.
//
// Thread rules: one thread drives it; completions come on the target's thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "histogram.hpp"
#include "target.hpp"
#include "waiter.hpp"

namespace bench {

class load {
 public:
  load(waiter const& clock, target& on) : clock_(clock), on_(on) {}
  load(load const&) = delete;
  load& operator=(load const&) = delete;

  // So many under way from now on.
  void keep_in_flight(std::uint32_t count);
  // Returns when the last planned one of `for_time` has been started. Throws as soon as a saga has failed.
  void arrive(double a_second, steady::duration for_time, std::uint64_t seed);
  // Sagas whose (planned) start is from here to end_window() are timed.
  void begin_window() noexcept;
  void end_window() noexcept;
  // Starts no more, and returns when all have ended; throws when a saga failed or they don't end.
  void drain();
  void check() const;  // throws when a saga has failed

  std::uint64_t begun() const noexcept { return begun_.load(std::memory_order_relaxed); }
  std::uint64_t ended() const noexcept { return ended_.load(std::memory_order_relaxed); }
  std::uint64_t turned_away() const noexcept { return turned_away_.load(std::memory_order_relaxed); }
  // After drain().
  histogram const& latencies() const noexcept { return latencies_; }

 private:
  void launch(steady::time_point planned);
  void finished(steady::time_point planned, outcome how);
  bool in_window(steady::time_point moment) const noexcept;

  waiter const& clock_;
  target& on_;
  bell empty_;
  histogram latencies_;
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> ended_{0};
  std::atomic<std::uint64_t> turned_away_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> under_way_{0};
  std::atomic<bool> closed_{false};
  std::atomic<bool> draining_{false};
  std::atomic<steady::rep> window_from_{0};
  std::atomic<steady::rep> window_to_{0};
};

}  // namespace bench
