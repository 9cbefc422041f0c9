// string() int() uint() double() bool(): each is exact or an error, except that int() and uint() of a double drop its fraction, as CEL has
// it.
#include <array>
#include <charconv>
#include <cmath>

#include "functions.hpp"

namespace atone::expr {
namespace {

constexpr double two_to_63 = 9223372036854775808.0;
constexpr double two_to_64 = 18446744073709551616.0;

fault out_of_range(expression const& call, std::string_view of) {
  return fault{call, std::string{of} + " is outside the range of " + call.text + "()"};
}

template <class Whole>
std::string number_text(Whole value) {
  return std::to_string(value);
}

// Shortest digits that read back the same, with an exponent only where JSON libraries use one too.
template <>
std::string number_text(double value) {
  auto const size = std::abs(value);
  bool const plain = size == 0 || (size >= 1e-6 && size < 1e21);
  std::array<char, 32> text{};
  auto const form = plain ? std::chars_format::fixed : std::chars_format::scientific;
  auto const [end, failed] = std::to_chars(text.data(), text.data() + text.size(), value, form);
  return failed == std::errc{} ? std::string{text.data(), end} : std::string{};
}

std::string shown(std::string const& text) {
  std::string out;
  json::append_string(out, text.substr(0, 40));
  return out;
}

// Decimal digits and nothing else; a sign only where the type has one.
template <class Whole>
outcome parse_whole(expression const& call, std::string const& text) {
  Whole value{};
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc::result_out_of_range) return out_of_range(call, shown(text));
  if (failed != std::errc{} || end != text.data() + text.size()) return fault{call, shown(text) + " is not a whole decimal number"};
  return datum{value};
}

bool looks_like_number(std::string const& text) {
  return text.find_first_not_of("+-.0123456789eE") == std::string::npos;
}

}  // namespace

std::string double_text(double value) {
  auto text = number_text(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

outcome to_text(work& budget, expression const& call, std::vector<datum> const& given) {
  auto const& of = given[0];
  if (!budget.spend(1)) return budget.exhausted(call);
  if (of.text() != nullptr) return of;
  if (auto const* truth = of.get<bool>()) return datum{std::string{*truth ? "true" : "false"}};
  if (auto const* whole = of.get<std::int64_t>()) return datum{number_text(*whole)};
  if (auto const* whole = of.get<std::uint64_t>()) return datum{number_text(*whole)};
  return datum{number_text(*of.get<double>())};
}

outcome to_integer(work&, expression const& call, std::vector<datum> const& given) {
  auto const& of = given[0];
  if (of.get<std::int64_t>() != nullptr) return of;
  if (auto const* whole = of.get<std::uint64_t>()) {
    if (*whole > static_cast<std::uint64_t>(INT64_MAX)) return out_of_range(call, number_text(*whole));
    return datum{static_cast<std::int64_t>(*whole)};
  }
  if (auto const* real = of.get<double>()) {
    // CEL leaves -2^63 itself out, too: it can't be told from what was rounded to it.
    if (*real <= -two_to_63 || *real >= two_to_63) return out_of_range(call, number_text(*real));
    return datum{static_cast<std::int64_t>(*real)};
  }
  return parse_whole<std::int64_t>(call, *of.text());
}

outcome to_unsigned(work&, expression const& call, std::vector<datum> const& given) {
  auto const& of = given[0];
  if (of.get<std::uint64_t>() != nullptr) return of;
  if (auto const* whole = of.get<std::int64_t>()) {
    if (*whole < 0) return out_of_range(call, number_text(*whole));
    return datum{static_cast<std::uint64_t>(*whole)};
  }
  if (auto const* real = of.get<double>()) {
    if (*real < 0 || *real >= two_to_64) return out_of_range(call, number_text(*real));
    return datum{static_cast<std::uint64_t>(*real)};
  }
  return parse_whole<std::uint64_t>(call, *of.text());
}

outcome to_floating(work&, expression const& call, std::vector<datum> const& given) {
  auto const& of = given[0];
  if (of.get<double>() != nullptr) return of;
  if (auto const* whole = of.get<std::int64_t>()) return datum{static_cast<double>(*whole)};
  if (auto const* whole = of.get<std::uint64_t>()) return datum{static_cast<double>(*whole)};
  auto const& text = *of.text();
  double value = 0;
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc::result_out_of_range) return out_of_range(call, shown(text));
  bool const whole = failed == std::errc{} && end == text.data() + text.size();
  if (!whole || !looks_like_number(text)) return fault{call, shown(text) + " is not a number"};
  return datum{value};
}

outcome to_boolean(work&, expression const& call, std::vector<datum> const& given) {
  auto const& of = given[0];
  if (of.get<bool>() != nullptr) return of;
  auto const& text = *of.text();
  for (auto const* word : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == word) return datum{true};
  }
  for (auto const* word : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == word) return datum{false};
  }
  return fault{call, shown(text) + " is neither true nor false"};
}

}  // namespace atone::expr
