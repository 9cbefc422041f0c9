// What engines on any processor run: plain parts of a compiled plan, and what a walk gathers of times. Nothing but numbers, so that it can
// be copied to a device as it is.
#pragma once

#include <cstdint>

#include <atone/features/aggregation.hpp>
#include <atone/features/arithmetic.hpp>

namespace atone::features {

// One result that is written where a walk has reached the beginning of a window.
struct sink {
  aggregation what = aggregation::count;
  bool sample = true;
  std::uint32_t column = 0;  // of the feature table
  std::int64_t scale = 1;    // 10^places of the column it is made from
};

// Where a walk from the newest event backwards stops for a moment: at the beginning of a window.
struct stop {
  std::uint32_t frame = 0;
  std::uint32_t first_sink = 0;
  std::uint32_t end_sink = 0;
};

// What a walk gathers.
enum class walk_kind : std::uint8_t { events, moments, distinct, picks, decay };

inline constexpr std::uint32_t no_column = UINT32_MAX;

// One walk over the rows of an entity, newest first, that serves windows nested in each other.
struct walk {
  walk_kind kind = walk_kind::events;
  std::uint32_t filter = 0;  // 0: every visible row
  std::uint32_t column = no_column;
  std::uint32_t first_stop = 0;
  std::uint32_t end_stop = 0;
  std::uint32_t keep = 0;     // of picks: values to remember
  bool no_intervals = false;  // of events: nothing but their number and the newest is asked for
  bool squares = false;       // of moments: a variance or deviation is asked for
  bool gaps = false;          // of events: the smallest interval is asked for, which needs neighbours
  decay_rate rate;
};

// A ratio of two results of the same row.
struct quotient {
  std::uint32_t column = 0;
  std::uint32_t upper = 0;
  std::uint32_t lower = 0;
};

// One row to compute: rows begin … end of the store may count, if they had happened and were known.
struct row_request {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::int64_t as_of = 0;
  std::int64_t known_at = 0;
};

// How often and when events happened.
struct occurrences {
  std::int64_t count = 0;
  std::int64_t newest = 0;
  std::int64_t oldest = 0;
  std::int64_t gap = INT64_MAX;  // the smallest between neighbours

  // Events come newest first.
  ATONE_HOST_DEVICE constexpr void add(std::int64_t time) {
    if (count == 0) {
      newest = time;
    } else if (oldest - time < gap) {
      gap = oldest - time;
    }
    oldest = time;
    ++count;
  }
  // `older` holds what comes behind all of these.
  ATONE_HOST_DEVICE constexpr void merge(occurrences const& older) {
    if (older.count == 0) return;
    if (count == 0) {
      *this = older;
      return;
    }
    auto const between = oldest - older.newest;
    gap = between < gap ? between : gap;
    gap = older.gap < gap ? older.gap : gap;
    oldest = older.oldest;
    count += older.count;
  }
  // Whatever the order; the gap is not to be asked for then.
  ATONE_HOST_DEVICE constexpr void merge_scattered(occurrences const& other) {
    if (other.count == 0) return;
    newest = count == 0 || other.newest > newest ? other.newest : newest;
    oldest = count == 0 || other.oldest < oldest ? other.oldest : oldest;
    count += other.count;
  }
};

}  // namespace atone::features
