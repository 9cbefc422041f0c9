// A plan and a store as a device takes them: arrays of plain values, and where they lie. The same structs on both sides of the plug-in's
// interface and inside kernels; no standard library type crosses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/parts.hpp"

namespace atone::features {

// An array that somebody else owns.
template <class T>
struct flat_list {
  T const* at = nullptr;
  std::uint32_t size = 0;
};

// A condition bound to one store: a range, or one of numbers[first_number … end_number) ascending.
struct flat_condition {
  std::uint32_t column = 0;
  std::uint32_t first_number = 0;
  std::uint32_t end_number = 0;
  bool is_range = false;
  std::int64_t least = 0;
  std::int64_t most = 0;
};

// Conditions that are met together.
struct flat_filter {
  std::uint32_t first_condition = 0;
  std::uint32_t end_condition = 0;
};

// A window: of time (`rows` is 0) or of rows that pass the filter.
struct flat_frame {
  std::int64_t length = 0;  // microseconds; 0: ever
  std::int64_t rows = 0;
  std::uint32_t filter = 0;
};

// A column of the store that the plan reads; null pointers: it does not.
struct flat_column {
  std::int64_t const* values = nullptr;
  std::uint8_t const* nulls = nullptr;
  bool nulls_count = true;  // for what is computed, not only for conditions: the times of the store have no nulls
};

// A column of results.
struct flat_result {
  std::int64_t* cells = nullptr;  // rows × lanes
  cell_state* states = nullptr;   // null: every cell has a value
  std::uint32_t lanes = 1;
};

// A compiled set.
struct flat_plan {
  flat_list<std::int64_t> numbers;
  flat_list<flat_condition> conditions;
  flat_list<flat_filter> filters;  // filters[0] is met by every row
  flat_list<flat_frame> frames;    // those of time first, the shortest first
  flat_list<walk> walks;
  flat_list<stop> stops;
  flat_list<sink> sinks;
  flat_list<quotient> quotients;
};

// A sorted store.
struct flat_store {
  std::uint32_t rows = 0;
  std::int64_t const* times = nullptr;
  std::int64_t const* known_from = nullptr;  // null: everything is known
  std::int64_t const* known_until = nullptr;
  flat_list<flat_column> columns;
};

}  // namespace atone::features
