// How much is deleted at a time, and how long the pauses between are: what is deleted must not be felt by what is under way. Pure.
//
// Thread rules: a plain value.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <atone/retention.hpp>
#include <atone/time.hpp>

namespace atone::runtime {

class deletion_pace {
 public:
  static constexpr std::size_t first_batch = 16;
  static constexpr int share = 10;  // of its time, at most a tenth is spent in the store
  // A batch that takes longer is too large for this store now; one that takes less may grow.
  static constexpr duration long_batch = std::chrono::milliseconds{20};
  static constexpr duration short_batch = std::chrono::milliseconds{5};
  static constexpr duration failure_pause_first = std::chrono::milliseconds{100};
  static constexpr duration failure_pause_max = std::chrono::seconds{10};
  static constexpr duration pass_pause_min = std::chrono::milliseconds{100};
  static constexpr duration pass_pause_max = std::chrono::minutes{1};

  // How many sagas or keys the next transaction may delete: 1 … retention::batch_max.
  std::size_t batch() const noexcept { return batch_; }

  // After a call that has taken so long in the store: for how long to leave it alone.
  duration after(duration took) noexcept {
    failure_pause_ = failure_pause_first;
    if (took > long_batch) batch_ = std::max<std::size_t>(1, batch_ / 2);
    if (took < short_batch) batch_ = std::min(retention::batch_max, batch_ * 2);
    return std::max(duration{0}, took) * (share - 1);
  }
  // The store did not answer, or not in time.
  duration after_failure() noexcept {
    batch_ = std::max<std::size_t>(1, batch_ / 2);
    auto const pause = failure_pause_;
    failure_pause_ = std::min(failure_pause_ * 2, failure_pause_max);
    return pause;
  }
  // Everything that is old enough has been looked at. Little grows old in a small part of the retention.
  static duration after_pass(duration kept_for) noexcept { return std::clamp(kept_for / 64, pass_pause_min, pass_pause_max); }

 private:
  std::size_t batch_ = first_batch;
  duration failure_pause_ = failure_pause_first;
};

}  // namespace atone::runtime
