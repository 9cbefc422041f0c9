// From what stands in a document or a message to the integer that a column holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <atone/features/feature_set.hpp>
#include <atone/result.hpp>

namespace atone::features {

// A decimal number's text in units of its last place: "12.5" at scale 2 is 1250. Nothing when it is no such number, has more places than
// the scale, or does not fit 64 bits. "-0" is 0.
std::optional<std::int64_t> parse_scaled(std::string_view text, int scale) noexcept;

// The nearest value of that scale to the exact value of a double, ties to even. Errors (invalid_argument): NaN, infinity, beyond 64 bits.
result<std::int64_t> scale_real(double value, int scale);

// The value as a decimal number with as many places as the scale: 1250 at scale 2 is "12.50".
std::string decimal_text(std::int64_t value, int scale);

// 10^places; 0 to 18 places.
std::int64_t power_of_ten(int places) noexcept;

}  // namespace atone::features
