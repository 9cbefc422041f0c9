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

}  // namespace

result<duration> parse_duration(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  if (digits == 0) return wrong_duration(text, "expected a whole number and a unit (us, ms, s, m, h, d), as in 250ms or 15m");
  std::int64_t count = 0;
  auto const [end, failed] = std::from_chars(text.data(), text.data() + digits, count);
  if (failed != std::errc{}) return wrong_duration(text, "the number is too large");
  auto const suffix = text.substr(digits);
  if (suffix.empty()) return wrong_duration(text, "the unit is missing (us, ms, s, m, h, d)");
  for (auto const& known : units) {
    if (known.text != suffix) continue;
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
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                static_cast<int>(time.subseconds().count()));
  return text.data();
}

std::optional<timestamp> parse_timestamp(std::string_view text) {
  using namespace std::chrono;
  int year_number = 0, hour = 0, minute = 0, second = 0;
  unsigned month_number = 0, day_number = 0;
  int used = 0;
  std::string const copy{text};
  if (std::sscanf(copy.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d%n", &year_number, &month_number, &day_number, &hour, &minute, &second, &used) != 6) {
    return std::nullopt;
  }
  year_month_day const date{year{year_number}, month{month_number}, std::chrono::day{day_number}};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  std::int64_t fraction = 0;
  auto at = static_cast<std::size_t>(used);
  if (at < copy.size() && copy[at] == '.') {
    std::int64_t scale = 100'000;
    for (++at; at < copy.size() && copy[at] >= '0' && copy[at] <= '9'; ++at, scale /= 10) fraction += (copy[at] - '0') * scale;
  }
  if (copy.substr(at) != "Z") return std::nullopt;
  return timestamp{sys_days{date}} + hours{hour} + minutes{minute} + seconds{second} + microseconds{fraction};
}

}  // namespace atone
