#include <optional>

#include "characters.hpp"
#include "formats.hpp"

namespace atone::schema_detail {
namespace {

// Exactly two digits at `at`.
std::optional<int> two_digits(std::string_view text, std::size_t at) {
  if (at + 2 > text.size() || !is_digit(text[at]) || !is_digit(text[at + 1])) return std::nullopt;
  return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

int days_of(int year, int month) {
  constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool const leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : days[static_cast<std::size_t>(month - 1)];
}

// "Z" or "+hh:mm": minutes east of UTC.
std::optional<int> read_offset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() != 6 || !is_one_of(text[0], "+-") || text[3] != ':') return std::nullopt;
  auto const hours = two_digits(text, 1);
  auto const minutes = two_digits(text, 4);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (*hours * 60 + *minutes);
}

}  // namespace

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  auto const century = two_digits(text, 0);
  auto const year = two_digits(text, 2);
  auto const month = two_digits(text, 5);
  auto const day = two_digits(text, 8);
  if (!century || !year || !month || !day || *month < 1 || *month > 12) return false;
  return *day >= 1 && *day <= days_of(*century * 100 + *year, *month);
}

bool is_time(std::string_view text) {
  auto const hour = two_digits(text, 0);
  auto const minute = two_digits(text, 3);
  auto const second = two_digits(text, 6);
  if (!hour || !minute || !second || text[2] != ':' || text[5] != ':') return false;
  if (*hour > 23 || *minute > 59 || *second > 60) return false;
  text.remove_prefix(8);
  if (text.starts_with('.')) {
    auto const end = text.find_first_not_of("0123456789", 1);
    if (end == 1 || end == std::string_view::npos) return false;
    text.remove_prefix(end);
  }
  auto const offset = read_offset(text);
  if (!offset) return false;
  constexpr int day_minutes = 24 * 60;
  int const utc = (*hour * 60 + *minute - *offset + 2 * day_minutes) % day_minutes;
  return *second < 60 || utc == day_minutes - 1;
}

bool is_date_time(std::string_view text) {
  return text.size() > 11 && is_one_of(text[10], "Tt") && is_date(text.substr(0, 10)) && is_time(text.substr(11));
}

}  // namespace atone::schema_detail
