// JSON numbers as exact decimals, for comparing and dividing without rounding. Work is in proportion to the text, whatever the
// exponent says.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atone::schema_detail {

// 0.d1d2d3… times ten to the power of `exponent`; first and last digit are not 0. Zero has no digits and no sign.
struct exact_number {
  static constexpr std::size_t exponent_digits_max = 17;

  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  // `raw` is a JSON number. Nothing when its exponent has more than exponent_digits_max digits.
  static std::optional<exact_number> of(std::string_view raw);

  bool zero() const noexcept { return digits.empty(); }
  // Without fractional part, as draft-07 counts: 1.0 and 1e3 are whole.
  bool whole() const noexcept { return zero() || exponent >= static_cast<std::int64_t>(digits.size()); }
};

std::strong_ordering compare(exact_number const& left, exact_number const& right);

// A number that others can be tested to be multiples of.
class divisor {
 public:
  static constexpr std::size_t digits_max = 18;  // significant ones, so that remainders fit 64 bits

  // Nothing unless `of` is above zero and has at most digits_max significant digits.
  static std::optional<divisor> make(exact_number const& of);
  bool divides(exact_number const& number) const;

 private:
  std::uint64_t mantissa_ = 1;  // value: mantissa_ * 10^power_
  std::int64_t power_ = 0;
};

}  // namespace atone::schema_detail
