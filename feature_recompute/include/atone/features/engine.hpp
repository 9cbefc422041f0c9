// Computes the features of a set from a sorted store: every window of every feature in one pass over an entity's rows, on any number of
// threads, with the same bits whatever their number and whatever order the rows came in.
//
// As of T means: with everything that had happened up to and including the microsecond T. A window of length L is [T + 1 µs - L, T + 1 µs):
// an event at T counts, one exactly L old does not, so that windows laid end to end hold each event once.
//
// Thread rules: an engine and a store are only read; `parallel` decides on which threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <atone/features/aggregation.hpp>
#include <atone/features/events.hpp>
#include <atone/features/feature_set.hpp>
#include <atone/features/parallel.hpp>
#include <atone/result.hpp>

namespace atone::features {

// What the bits of a cell mean.
enum class cell_type : std::uint8_t { integer, decimal, text, timestamp, real };

// One column of results.
struct feature_column {
  std::uint32_t feature = 0;   // in the set
  std::uint32_t window = 0;    // of a ratio: the upper one
  std::int32_t category = -1;  // index of the feature's category; -1: it has none
  cell_type type = cell_type::integer;
  int scale = 0;             // decimal places of a decimal
  std::uint32_t source = 0;  // of a text: the column of the store whose words it points into
  std::uint32_t lanes = 1;   // cells a row: more than one for last_values
  // rows × lanes; a double as its bits.
  std::unique_ptr<std::int64_t[]> cells;
  std::unique_ptr<cell_state[]> states;  // null: every cell has a value

  feature_column() = default;
  cell_state state(std::size_t row, std::size_t lane = 0) const noexcept {
    return states == nullptr ? cell_state::value : states[row * lanes + lane];
  }
  std::int64_t integer(std::size_t row, std::size_t lane = 0) const noexcept { return cells[row * lanes + lane]; }
  double real(std::size_t row) const noexcept;
};

// Whose features, as of when, with what was known when.
struct feature_moment {
  std::optional<std::uint32_t> entity;  // in the store; nothing: an entity without events
  timestamp as_of;
  timestamp known_at;  // without known_at in the set it says nothing

  feature_moment() = default;
  feature_moment(std::optional<std::uint32_t> of, timestamp at, timestamp known) : entity(of), as_of(at), known_at(known) {}
};

// Results, a row a moment.
struct feature_table {
  std::size_t rows = 0;
  std::vector<feature_column> columns;  // features as the set lists them, windows within, categories within

  feature_table() = default;
};

struct feature_plan;

// A compiled set.
class feature_engine {
 public:
  explicit feature_engine(feature_set_ptr set);
  ~feature_engine();
  feature_engine(feature_engine&&) noexcept;
  feature_engine& operator=(feature_engine&&) noexcept;

  feature_set const& set() const noexcept { return *set_; }

  // One row an entity of the store, in its order. Errors: invalid_argument (a time out of bounds).
  result<feature_table> as_of(event_store const& store, timestamp at, timestamp known_at, parallel const& how = one_by_one) const;
  // One row a moment. Errors: invalid_argument (a time out of bounds; an entity that the store has not).
  result<feature_table> at(event_store const& store, std::span<feature_moment const> moments, parallel const& how = one_by_one) const;
  // One row an event of the store: as of that event and with it, with what was known when it became known; events that come after it in the
  // total order don't count, equal times or not. What training data is made of.
  result<feature_table> per_event(event_store const& store, parallel const& how = one_by_one) const;

 private:
  feature_set_ptr set_;
  std::unique_ptr<feature_plan const> plan_;
};

// One row as JSON; equal rows give equal bytes:
// {"as_of":"2026-11-30T00:00:00.000000Z","windows":{"7d":{"count":2,"spent":3.00,"by_product":{"a":1,"b":1}}},"ratios":{"trend":0.5}}
// Errors: invalid_argument (an overflow, naming feature and window).
result<std::string> to_json(feature_set const& set, event_store const& store, feature_table const& table, std::size_t row, timestamp as_of);

}  // namespace atone::features
