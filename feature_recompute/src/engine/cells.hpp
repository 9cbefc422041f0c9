// From what a walk has gathered to the cell that is written: once, for engines on any processor.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/parts.hpp"

namespace atone::features {

// One cell of results; a double as its bits. What has no value is 0.
struct cell_value {
  std::int64_t bits = 0;
  cell_state state = cell_state::value;
};

ATONE_HOST_DEVICE constexpr cell_value no_value(cell_state why) {
  return cell_value{0, why};
}

ATONE_HOST_DEVICE inline cell_value real_cell(double value) {
  cell_value made;
  static_assert(sizeof made.bits == sizeof value);
  __builtin_memcpy(&made.bits, &value, sizeof value);
  return made;
}

// Count, recency, intervals.
ATONE_HOST_DEVICE inline cell_value occurrence_cell(aggregation what, occurrences const& of, std::int64_t as_of) {
  if (what == aggregation::count) return cell_value{of.count};
  if (of.count < (what == aggregation::recency ? 1 : 2)) return no_value(cell_state::null);
  if (what == aggregation::recency) return cell_value{as_of - of.newest};
  if (what == aggregation::interval_min) return cell_value{of.gap};
  return real_cell(mean_of(of.newest - of.oldest, of.count - 1, 1));
}

ATONE_HOST_DEVICE inline cell_value sum_cell(moments const& of) {
  return fits(of.sum) ? cell_value{static_cast<std::int64_t>(of.sum)} : no_value(cell_state::overflow);
}

// Variance and deviation; count > 0.
ATONE_HOST_DEVICE inline cell_value spread_cell(sink const& to, moments const& of) {
  if (to.sample && of.count < 2) return no_value(cell_state::null);
  if (of.overflow) return no_value(cell_state::overflow);
  double const variance = variance_of(of.count, of.sum, of.squares, to.scale, to.sample);
  return real_cell(to.what == aggregation::variance ? variance : std::sqrt(variance));
}

// Over nothing a sum is 0, all else null.
ATONE_HOST_DEVICE inline cell_value moments_cell(sink const& to, moments const& of) {
  if (of.count == 0) return no_value(to.what == aggregation::sum ? cell_state::value : cell_state::null);
  switch (to.what) {
    case aggregation::sum: return sum_cell(of);
    case aggregation::mean: return real_cell(mean_of(of.sum, of.count, to.scale));
    case aggregation::min: return cell_value{of.least};
    case aggregation::max: return cell_value{of.most};
    default: return spread_cell(to, of);
  }
}

// A ratio of two cells.
ATONE_HOST_DEVICE inline cell_value quotient_cell(cell_value const& upper, cell_value const& lower) {
  if (upper.state == cell_state::overflow || lower.state == cell_state::overflow) return no_value(cell_state::overflow);
  if (lower.bits == 0) return no_value(cell_state::null);
  int128 const above = upper.bits;
  int128 const below = lower.bits;
  return real_cell(nearest_quotient(below < 0 ? -above : above, magnitude_of(below)));
}

}  // namespace atone::features
