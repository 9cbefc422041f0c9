// The CDNOW purchase log: real purchases of 1997 and 1998, one a line, fixed width (tests/golden/cdnow_sample.md names the source).
// Thread rules: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <atone/result.hpp>
#include <atone/time.hpp>

namespace demo {

// One purchase. Money is whole cents: read digit by digit, never through floating point.
struct purchase {
  std::uint64_t number = 0;  // its line in the log, from 1: serves as order number
  std::uint32_t customer = 0;
  atone::timestamp placed_at;  // midnight UTC of its day
  std::uint32_t quantity = 0;
  std::int64_t cents = 0;

  purchase() = default;
  friend bool operator==(purchase const&, purchase const&) = default;
};

inline constexpr std::size_t purchases_max = 1'000'000;

// " 00001 19970101  1   11.77": columns 1-5 customer, 7-14 day, 15-17 quantity, 18-25 dollars. The first line holds the columns'
// names, line ends may be CR LF, empty lines at the end are left out. Errors name line, column and what was found.
atone::result<std::vector<purchase>> parse_purchases(std::string_view text);

}  // namespace demo
