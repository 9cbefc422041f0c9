#include "spec/values.hpp"

#include <charconv>
#include <cmath>

#include <atone/features/arithmetic.hpp>

namespace atone::features {

std::int64_t power_of_ten(int places) noexcept {
  std::int64_t power = 1;
  for (int at = 0; at < places; ++at) power *= 10;
  return power;
}

std::string decimal_text(std::int64_t value, int scale) {
  auto const bits = static_cast<std::uint64_t>(value);
  auto text = std::to_string(value < 0 ? 0 - bits : bits);
  auto const places = static_cast<std::size_t>(scale);
  if (text.size() <= places) text.insert(0, places + 1 - text.size(), '0');
  if (places > 0) text.insert(text.size() - places, 1, '.');
  return (value < 0 ? "-" : "") + text;
}

std::optional<std::int64_t> parse_scaled(std::string_view text, int scale) noexcept {
  bool const negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  auto const point = text.find('.');
  auto const whole = text.substr(0, point);
  auto const places = point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
  if (whole.empty() || (point != std::string_view::npos && places.empty())) return std::nullopt;
  auto const scaled = static_cast<std::size_t>(scale);
  uint128 value = 0;
  uint128 const most = (uint128{1} << 63) - (negative ? 0 : 1);
  auto const digits = [&](std::string_view of) {
    for (char const c : of) {
      if (c < '0' || c > '9') return false;
      value = value * 10 + static_cast<unsigned>(c - '0');
      if (value > most) return false;
    }
    return true;
  };
  if (!digits(whole) || !digits(places.substr(0, scaled))) return std::nullopt;
  // More places than the scale has are no harm while they say nothing.
  if (places.size() > scaled && places.find_first_not_of('0', scaled) != std::string_view::npos) return std::nullopt;
  for (auto at = places.size(); at < scaled; ++at) {
    value *= 10;
    if (value > most) return std::nullopt;
  }
  auto const bits = static_cast<std::uint64_t>(value);
  return static_cast<std::int64_t>(negative ? 0 - bits : bits);
}

result<std::int64_t> scale_real(double value, int scale) {
  auto const fail = [](std::string_view what) {
    return error{errc::invalid_argument, "found " + std::string{what} + "; expected a number"};
  };
  if (std::isnan(value)) return fail("NaN");
  if (std::isinf(value)) return fail("an infinity");
  int exponent = 0;
  double const fraction = std::frexp(std::fabs(value), &exponent);
  auto const mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));  // value = mantissa × 2^(exponent - 53), exactly
  exponent -= 53;
  uint128 const product = static_cast<uint128>(mantissa) * static_cast<uint128>(power_of_ten(scale));  // below 2^53 × 2^60
  uint128 scaled = 0;
  auto const too_large = error{errc::invalid_argument, "found a number beyond 64 bits at scale " + std::to_string(scale)};
  if (exponent >= 0) {
    if (exponent > 64 || (product >> (127 - exponent)) != 0) return too_large;
    scaled = product << exponent;
  } else if (exponent > -128) {
    int const places = -exponent;
    scaled = product >> places;
    uint128 const rest = product - (scaled << places);
    uint128 const half = uint128{1} << (places - 1);
    if (rest > half || (rest == half && (scaled & 1) != 0)) ++scaled;
  }
  bool const negative = std::signbit(value);
  if (scaled > (uint128{1} << 63) - (negative ? 0 : 1)) return too_large;
  auto const bits = static_cast<std::uint64_t>(scaled);
  return static_cast<std::int64_t>(negative ? 0 - bits : bits);
}

}  // namespace atone::features
