// A feature set as the engine runs it: flat lists of what is walked, where walks stop, and what is written there.
#pragma once

#include <cstdint>
#include <vector>

#include <atone/features/arithmetic.hpp>
#include <atone/features/engine.hpp>

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
  decay_rate rate;
};

// The first row of a window under a filter; the filter matters to windows of rows only.
struct frame {
  std::uint32_t window = 0;
  std::uint32_t filter = 0;
};

// A ratio of two results of the same row.
struct quotient {
  std::uint32_t column = 0;
  std::uint32_t upper = 0;
  std::uint32_t lower = 0;
};

// Conditions that are met together, one of them maybe a category.
using filter_conditions = std::vector<condition>;

struct feature_plan {
  std::vector<feature_column> columns;     // without cells
  std::vector<bool> nullable;              // of the columns
  std::vector<filter_conditions> filters;  // filters[0] is empty
  std::vector<frame> time_frames;          // by length, the shortest first: frames 0 …
  std::vector<frame> row_frames;           // behind them
  std::vector<walk> walks;
  std::vector<stop> stops;
  std::vector<sink> sinks;
  std::vector<quotient> quotients;

  feature_plan() = default;
  std::size_t frames() const noexcept { return time_frames.size() + row_frames.size(); }
};

feature_plan compile(feature_set const& set);

}  // namespace atone::features
