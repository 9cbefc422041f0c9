// A feature set as the engine runs it: flat lists of what is walked, where walks stop, and what is written there.
#pragma once

#include <cstdint>
#include <vector>

#include <atone/features/engine.hpp>

#include "engine/parts.hpp"

namespace atone::features {

// The first row of a window under a filter; the filter matters to windows of rows only.
struct frame {
  std::uint32_t window = 0;
  std::uint32_t filter = 0;
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
