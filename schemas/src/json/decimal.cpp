#include "decimal.hpp"

#include <algorithm>
#include <charconv>

namespace atone::json {
namespace {

constexpr std::size_t plain_digits_max = 40;  // whole numbers up to here are written without an exponent

std::string strip_zeros(std::string_view digits) {
  auto const first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? "0" : std::string{digits.substr(first)};
}

// Both without sign and leading zeros.
bool smaller(std::string_view left, std::string_view right) {
  return left.size() != right.size() ? left.size() < right.size() : left < right;
}

std::string sum(std::string_view left, std::string_view right) {
  std::string out;
  int carry = 0;
  for (std::size_t at = 0; at < std::max(left.size(), right.size()) || carry != 0; ++at) {
    int const a = at < left.size() ? left[left.size() - 1 - at] - '0' : 0;
    int const b = at < right.size() ? right[right.size() - 1 - at] - '0' : 0;
    out += static_cast<char>('0' + (a + b + carry) % 10);
    carry = (a + b + carry) / 10;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

// large >= small
std::string difference(std::string_view large, std::string_view small) {
  std::string out;
  int borrow = 0;
  for (std::size_t at = 0; at < large.size(); ++at) {
    int const b = at < small.size() ? small[small.size() - 1 - at] - '0' : 0;
    int digit = large[large.size() - 1 - at] - '0' - b - borrow;
    borrow = digit < 0 ? 1 : 0;
    out += static_cast<char>('0' + digit + 10 * borrow);
  }
  std::reverse(out.begin(), out.end());
  return strip_zeros(out);
}

std::string signed_text(bool negative, std::string digits) {
  return negative && digits != "0" ? '-' + digits : digits;
}

// Fits when the text is short; exponents beyond are never plain.
bool small_exponent(std::string const& text, long long& value) {
  if (text.size() > 6) return false;
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string add_decimal(std::string_view big, long long small) {
  bool const left_negative = !big.empty() && big.front() == '-';
  if (!big.empty() && (big.front() == '-' || big.front() == '+')) big.remove_prefix(1);
  auto const left = strip_zeros(big);
  bool const right_negative = small < 0;
  auto right = std::to_string(small);
  if (right_negative) right.erase(0, 1);
  if (left_negative == right_negative) return signed_text(left_negative, strip_zeros(sum(left, right)));
  if (smaller(left, right)) return signed_text(right_negative, difference(right, left));
  return signed_text(left_negative, difference(left, right));
}

decimal decimal::of(std::string_view number) {
  decimal read;
  if (number.starts_with('-')) {
    read.negative = true;
    number.remove_prefix(1);
  }
  auto const power = number.find_first_of("eE");
  auto const mantissa = number.substr(0, power);
  auto const point = std::min(mantissa.find('.'), mantissa.size());
  read.digits = mantissa.substr(0, point);
  if (point < mantissa.size()) read.digits += mantissa.substr(point + 1);
  auto const first = read.digits.find_first_not_of('0');
  if (first == std::string::npos) return decimal{};
  read.digits.erase(read.digits.find_last_not_of('0') + 1);
  read.digits.erase(0, first);
  auto const shift = static_cast<long long>(point) - static_cast<long long>(first);
  read.exponent = add_decimal(power == std::string_view::npos ? "0" : number.substr(power + 1), shift);
  return read;
}

std::string decimal::text() const {
  if (zero()) return "0";
  std::string out = negative ? "-" : "";
  long long places = 0;
  if (small_exponent(exponent, places) && places >= static_cast<long long>(digits.size()) &&
      places <= static_cast<long long>(plain_digits_max)) {
    return out + digits + std::string(static_cast<std::size_t>(places) - digits.size(), '0');
  }
  out += digits[0];
  if (digits.size() > 1) out += '.' + digits.substr(1);
  return out + 'e' + add_decimal(exponent, -1);
}

}  // namespace atone::json
