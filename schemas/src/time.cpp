#include <atone/time.hpp>

#include <array>
#include <charconv>
#include <cstdio>

namespace atone {
namespace {

struct unit {
  std::string_view text;
  std::int64_t microseconds;
};
// Longest first, so that formatting takes the coarsest exact one.
constexpr std::array units{unit{"d", 86'400'000'000}, unit{"h", 3'600'000'000}, unit{"m", 60'000'000},
                           unit{"s", 1'000'000},      unit{"ms", 1'000},        unit{"us", 1}};

error wrong_duration(std::string_view text, std::string_view why) {
  return error{errc::invalid_argument, "'" + std::string{text} + "' is not a duration: " + std::string{why}};
}

constexpr bool is_digit(char character) noexcept {
  return character >= '0' && character <= '9';
}

// Digits only, known to be so.
int number(std::string_view text, std::size_t from, std::size_t count) noexcept {
  int value = 0;
  for (auto const digit : text.substr(from, count)) value = value * 10 + (digit - '0');
  return value;
}

// "" or ".5" … ".123456".
std::optional<int> fraction_microseconds(std::string_view text) noexcept {
  if (text.empty()) return 0;
  auto const digits = text.substr(1);
  if (text.front() != '.' || digits.empty() || digits.size() > 6) return std::nullopt;
  for (auto const digit : digits) {
    if (!is_digit(digit)) return std::nullopt;
  }
  int value = number(digits, 0, digits.size());
  for (auto places = digits.size(); places < 6; ++places) value *= 10;
  return value;
}

}  // namespace

result<duration> parse_duration(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits == 0) return wrong_duration(text, "expected a whole number and a unit (us, ms, s, m, h, d), as in 250ms or 15m");
  std::int64_t count = 0;
  auto const [end, failed] = std::from_chars(text.data(), text.data() + digits, count);
  if (failed != std::errc{}) return wrong_duration(text, "the number is too large");
  auto const suffix = text.substr(digits);
  if (suffix.empty()) return wrong_duration(text, "the unit is missing (us, ms, s, m, h, d)");
  for (auto const& known : units) {
    if (known.text != suffix) continue;
    if (count == 0 && suffix != "s") return wrong_duration(text, "zero is written 0s");
    if (count > duration_max.count() / known.microseconds) return wrong_duration(text, "the longest is ten years");
    return duration{count * known.microseconds};
  }
  return wrong_duration(text, "unknown unit '" + std::string{suffix} + "'; expected us, ms, s, m, h or d");
}

std::string format_duration(duration value) {
  if (value.count() == 0) return "0s";
  for (auto const& known : units) {
    if (value.count() % known.microseconds == 0) return std::to_string(value.count() / known.microseconds) + std::string{known.text};
  }
  return std::to_string(value.count()) + "us";
}

std::string format_timestamp(timestamp at) {
  using namespace std::chrono;
  auto const day = floor<days>(at);
  year_month_day const date{day};
  hh_mm_ss const time{at - day};
  std::string text = "0000-00-00T00:00:00.000000Z";
  auto const put = [&](std::size_t at_digit, std::size_t digits, std::int64_t value) {
    for (; digits > 0; value /= 10) text[at_digit + --digits] = static_cast<char>('0' + value % 10);
  };
  put(5, 2, static_cast<unsigned>(date.month()));
  put(8, 2, static_cast<unsigned>(date.day()));
  put(11, 2, time.hours().count());
  put(14, 2, time.minutes().count());
  put(17, 2, time.seconds().count());
  put(20, 6, time.subseconds().count());
  auto const year = static_cast<int>(date.year());
  if (year >= 0 && year <= 9999) {
    put(0, 4, year);
    return text;
  }
  std::array<char, 12> other{};  // the form has four places
  std::snprintf(other.data(), other.size(), "%04d", year);
  return text.replace(0, 4, other.data());
}

// Strictly the form that format_timestamp writes, with one to six decimals or none.
std::optional<timestamp> parse_timestamp(std::string_view text) {
  using namespace std::chrono;
  constexpr std::string_view form = "0000-00-00T00:00:00";
  if (text.size() < form.size() + 1 || text.back() != 'Z') return std::nullopt;
  for (std::size_t at = 0; at < form.size(); ++at) {
    if (form[at] == '0' ? !is_digit(text[at]) : text[at] != form[at]) return std::nullopt;
  }
  auto const fraction = fraction_microseconds(text.substr(form.size(), text.size() - form.size() - 1));
  year_month_day const date{year{number(text, 0, 4)}, month{static_cast<unsigned>(number(text, 5, 2))},
                            day{static_cast<unsigned>(number(text, 8, 2))}};
  int const hour = number(text, 11, 2), minute = number(text, 14, 2), second = number(text, 17, 2);
  if (!fraction || !date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return timestamp{sys_days{date}} + hours{hour} + minutes{minute} + seconds{second} + microseconds{*fraction};
}

}  // namespace atone
