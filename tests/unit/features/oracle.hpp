// The same features the slow way: every event of every window looked at for every feature by itself, sums in big integers, quotients as
// exact rationals. Shares nothing with the engine but the set and the table of decay weights.
#pragma once

#include <optional>
#include <utility>

#include "support.hpp"

namespace atone::features_test {

// One cell as the oracle sees it; a double by its bits.
struct expected_cell {
  features::cell_state state = features::cell_state::null;
  std::int64_t bits = 0;
  std::string word;  // of a text

  expected_cell() = default;
  friend bool operator==(expected_cell const&, expected_cell const&) = default;
};

// Which moment of which entity; `through`: nothing behind this event (time and id) counts.
struct oracle_moment {
  raw_value entity;
  std::int64_t as_of = 0;
  std::int64_t known_at = 0;
  std::optional<std::pair<std::int64_t, raw_value>> through;

  oracle_moment() = default;
};

// Cells of all columns in the order of the engine's, lanes one after the other.
std::vector<expected_cell> oracle_row(features::feature_set const& set, raw_rows const& rows, oracle_moment const& at);

// What the engine says, in the same form.
std::vector<expected_cell> engine_row(features::event_store const& store, features::feature_table const& table, std::size_t row);

// The double nearest to dividend / divisor × 2^exponent by exact comparison; for the tests of the arithmetic too. The texts are decimal
// integers.
double nearest_by_rationals(std::string const& dividend, std::string const& divisor, int exponent);

}  // namespace atone::features_test
