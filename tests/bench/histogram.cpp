#include "histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bench {

// Values below 64 have a bucket each; above, the highest bit names the row and the next six bits the place in it.
std::size_t histogram::bucket_of(std::uint64_t value) noexcept {
  auto const width = static_cast<unsigned>(std::bit_width(value));
  if (width <= fraction_bits) return static_cast<std::size_t>(value);
  auto const shift = width - fraction_bits - 1;
  auto const row = static_cast<std::size_t>(shift + 1) << fraction_bits;
  return row + static_cast<std::size_t>((value >> shift) & ((1U << fraction_bits) - 1));
}

std::uint64_t histogram::upper_edge(std::size_t bucket) noexcept {
  auto const row = bucket >> fraction_bits;
  if (row == 0) return bucket;
  auto const place = (bucket & ((1U << fraction_bits) - 1)) | (1U << fraction_bits);
  return ((static_cast<std::uint64_t>(place) + 1) << (row - 1)) - 1;
}

void histogram::add(std::chrono::nanoseconds value) noexcept {
  auto const nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(0, value.count()));
  ++counts_[bucket_of(nanoseconds)];
  ++count_;
}

std::chrono::nanoseconds histogram::quantile(double share) const noexcept {
  if (count_ == 0) return {};
  auto const wanted = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_))), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    seen += counts_[bucket];
    if (seen >= wanted) return std::chrono::nanoseconds{static_cast<std::int64_t>(upper_edge(bucket))};
  }
  return {};
}

double milliseconds(std::chrono::nanoseconds of) noexcept {
  return static_cast<double>(of.count()) / 1e6;
}

}  // namespace bench
