#include "number.hpp"

#include <algorithm>
#include <charconv>

namespace atone::schema_detail {
namespace {

__extension__ using uint128 = unsigned __int128;

// The exponent's text behind 'e', with its sign.
std::optional<std::int64_t> read_exponent(std::string_view text) {
  bool const negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  auto const first = text.find_first_not_of('0');
  if (first == std::string_view::npos) return 0;
  text.remove_prefix(first);
  if (text.size() > exact_number::exponent_digits_max) return std::nullopt;
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return negative ? -value : value;
}

std::uint64_t times(std::uint64_t left, std::uint64_t right, std::uint64_t modulus) {
  return static_cast<std::uint64_t>(static_cast<uint128>(left) * right % modulus);
}

// 10^power mod modulus
std::uint64_t power_of_ten(std::int64_t power, std::uint64_t modulus) {
  std::uint64_t out = 1 % modulus;
  for (std::uint64_t base = 10 % modulus; power > 0; power /= 2) {
    if (power % 2 == 1) out = times(out, base, modulus);
    base = times(base, base, modulus);
  }
  return out;
}

// Both without sign, not zero.
std::strong_ordering compare_magnitude(exact_number const& left, exact_number const& right) {
  if (left.exponent != right.exponent) return left.exponent <=> right.exponent;
  return left.digits.compare(right.digits) <=> 0;
}

int sign_of(exact_number const& of) {
  return of.zero() ? 0 : of.negative ? -1 : 1;
}

}  // namespace

std::optional<exact_number> exact_number::of(std::string_view raw) {
  exact_number read;
  if (raw.starts_with('-')) {
    read.negative = true;
    raw.remove_prefix(1);
  }
  auto const power = raw.find_first_of("eE");
  auto const mantissa = raw.substr(0, power);
  auto const point = std::min(mantissa.find('.'), mantissa.size());
  read.digits = mantissa.substr(0, point);
  if (point < mantissa.size()) read.digits += mantissa.substr(point + 1);
  auto const first = read.digits.find_first_not_of('0');
  if (first == std::string::npos) return exact_number{};
  read.digits.erase(read.digits.find_last_not_of('0') + 1);
  read.digits.erase(0, first);
  auto const written = power == std::string_view::npos ? std::optional<std::int64_t>{0} : read_exponent(raw.substr(power + 1));
  if (!written) return std::nullopt;
  read.exponent = *written + static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  return read;
}

std::strong_ordering compare(exact_number const& left, exact_number const& right) {
  if (sign_of(left) != sign_of(right)) return sign_of(left) <=> sign_of(right);
  if (left.zero()) return std::strong_ordering::equal;
  return left.negative ? compare_magnitude(right, left) : compare_magnitude(left, right);
}

std::optional<divisor> divisor::make(exact_number const& of) {
  if (of.zero() || of.negative || of.digits.size() > digits_max) return std::nullopt;
  divisor made;
  std::from_chars(of.digits.data(), of.digits.data() + of.digits.size(), made.mantissa_);
  made.power_ = of.exponent - static_cast<std::int64_t>(of.digits.size());
  return made;
}

bool divisor::divides(exact_number const& number) const {
  if (number.zero()) return true;
  auto const shift = number.exponent - static_cast<std::int64_t>(number.digits.size()) - power_;
  if (shift < 0) return false;  // the last digit is not 0, so no power of ten can be taken out of the digits
  std::uint64_t rest = 0;
  for (char const digit : number.digits) rest = (times(rest, 10, mantissa_) + static_cast<std::uint64_t>(digit - '0')) % mantissa_;
  return times(rest, power_of_ten(shift, mantissa_), mantissa_) == 0;
}

}  // namespace atone::schema_detail
