// What a feature computes, and what a result has instead of a value: words that engines on any processor share.
// Thread rules: plain values.
#pragma once

#include <cstdint>
#include <string_view>

namespace atone::features {

// What is computed.
enum class aggregation : std::uint8_t {
  count,  // events, or values of the column that are not null
  sum,    // exact, or flagged as overflow
  mean,   // the nearest double to the exact quotient
  min,
  max,
  variance,       // the nearest double to the exact quotient
  deviation,      // the square root of that double
  distinct,       // exactly how many different values
  first,          // the oldest value
  last,           // the newest value
  last_values,    // the newest values, newest first
  recency,        // age of the newest event, microseconds
  interval_mean,  // between neighbouring events, microseconds
  interval_min,
  decayed_count,  // each event weighs 2^(-age / half-life)
  decayed_sum,
  ratio,  // of one feature in two windows
};

std::string_view name(aggregation of) noexcept;

// What a cell of results has instead of a value.
enum class cell_state : std::uint8_t { value = 0, null = 1, overflow = 2 };

}  // namespace atone::features
