// The services' own books against what the sagas said: money and counts must agree to the cent. Independent of the audit: it looks
// at sums, not at single effects.
// Thread rules: pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <atone/json.hpp>
#include <atone/result.hpp>

namespace demo {

struct expected_books {
  std::uint64_t completed = 0;
  std::int64_t cents = 0;

  expected_books() = default;
};

// `orders` and `profiles`: their GET /totals. One line a disagreement; empty: everything agrees.
std::vector<std::string> compare_books(expected_books const& expected, atone::json::value const& orders,
                                       atone::json::value const& profiles);

// The sum of a number over the services' GET /atone/stats.
std::uint64_t sum_of(std::vector<atone::json::value> const& stats, std::string_view field);
// All faults shown on purpose, of all kinds.
std::uint64_t sum_of_faults(std::vector<atone::json::value> const& stats);

}  // namespace demo
