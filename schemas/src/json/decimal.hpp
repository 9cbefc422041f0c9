// A JSON number as an exact decimal: never rounded, and bounded by the length of its text whatever the exponent says.
#pragma once

#include <string>
#include <string_view>

namespace atone::json {

// 0.d1d2d3… times ten to the power of `exponent`. Zero has no digits; otherwise first and last digit are not 0.
struct decimal {
  bool negative = false;
  std::string digits;
  std::string exponent = "0";  // a whole decimal number of any size, "-" in front when below zero

  static decimal of(std::string_view number);
  bool zero() const noexcept { return digits.empty(); }
  // The one text for this value: plain while short ("-12000"), else "d.ddde+x".
  std::string text() const;
};

// `big` (a whole decimal number of any size) plus `small`.
std::string add_decimal(std::string_view big, long long small);

}  // namespace atone::json
