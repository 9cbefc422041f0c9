// Counts durations in buckets whose width is at most 1/64 of their value: quantiles of millions of latencies in 32 kB.
// Thread rules: one thread at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace bench {

class histogram {
 public:
  void add(std::chrono::nanoseconds value) noexcept;
  std::uint64_t count() const noexcept { return count_; }
  // The value that `share` (0 … 1) of all values do not exceed: the upper edge of its bucket. Zero when nothing was added.
  std::chrono::nanoseconds quantile(double share) const noexcept;

 private:
  static constexpr unsigned fraction_bits = 6;
  static constexpr std::size_t buckets = (64 - fraction_bits + 1) << fraction_bits;

  static std::size_t bucket_of(std::uint64_t value) noexcept;
  static std::uint64_t upper_edge(std::size_t bucket) noexcept;

  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t count_ = 0;
};

double milliseconds(std::chrono::nanoseconds of) noexcept;

}  // namespace bench
