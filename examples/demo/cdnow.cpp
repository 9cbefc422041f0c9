#include "cdnow.hpp"

#include <optional>
#include <string>
#include <utility>

namespace demo {
namespace {

using atone::errc;
using atone::error;
using atone::result;

constexpr std::size_t line_width = 26;

struct column {
  std::string_view name;
  std::size_t from;
  std::size_t width;
};
constexpr column customer_column{"customer", 1, 5};
constexpr column day_column{"day", 7, 8};
constexpr column quantity_column{"quantity", 15, 3};
constexpr column dollars_column{"dollars", 18, 8};

error wrong(std::size_t line, column const& in, std::string_view found, std::string_view expected) {
  return error{errc::invalid_argument, "purchase log line " + std::to_string(line) + ", " + std::string{in.name} + " (columns " +
                                           std::to_string(in.from) + "-" + std::to_string(in.from + in.width - 1) + "): found '" +
                                           std::string{found} + "', expected " + std::string{expected}};
}

std::string_view trim_left(std::string_view text) {
  auto const first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

// Digits only, at least one; the columns are too narrow to overflow.
std::optional<std::int64_t> digits(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (char const each : text) {
    if (each < '0' || each > '9') return std::nullopt;
    value = value * 10 + (each - '0');
  }
  return value;
}

// "11.77" is 1177.
std::optional<std::int64_t> cents_of(std::string_view text) {
  auto const point = text.find('.');
  if (point == std::string_view::npos || text.size() - point != 3) return std::nullopt;
  auto const whole = digits(text.substr(0, point));
  auto const part = digits(text.substr(point + 1));
  if (!whole || !part) return std::nullopt;
  return *whole * 100 + *part;
}

std::optional<atone::timestamp> day_of(std::string_view text) {
  auto const year = digits(text.substr(0, 4));
  auto const month = digits(text.substr(4, 2));
  auto const day = digits(text.substr(6, 2));
  if (!year || !month || !day) return std::nullopt;
  std::chrono::year_month_day const date{std::chrono::year{static_cast<int>(*year)}, std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return atone::timestamp{std::chrono::sys_days{date}.time_since_epoch()};
}

result<purchase> parse_line(std::string_view line, std::size_t number) {
  if (line.size() != line_width) {
    return error{errc::invalid_argument, "purchase log line " + std::to_string(number) + ": found " + std::to_string(line.size()) +
                                             " characters, expected " + std::to_string(line_width)};
  }
  auto const field = [line](column const& in) { return trim_left(line.substr(in.from, in.width)); };
  auto const customer = digits(field(customer_column));
  if (!customer) return wrong(number, customer_column, field(customer_column), "digits");
  auto const day = day_of(line.substr(day_column.from, day_column.width));
  if (!day) return wrong(number, day_column, field(day_column), "a day as YYYYMMDD");
  auto const quantity = digits(field(quantity_column));
  if (!quantity) return wrong(number, quantity_column, field(quantity_column), "digits");
  auto const cents = cents_of(field(dollars_column));
  if (!cents) return wrong(number, dollars_column, field(dollars_column), "dollars as 12.34");
  purchase made;
  made.customer = static_cast<std::uint32_t>(*customer);
  made.placed_at = *day;
  made.quantity = static_cast<std::uint32_t>(*quantity);
  made.cents = *cents;
  return made;
}

// The next line without its end; what is left stays in `text`.
std::string_view take_line(std::string_view& text) {
  auto const end = text.find('\n');
  auto line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

result<std::vector<purchase>> parse_purchases(std::string_view text) {
  auto const heading = take_line(text);
  if (heading.find("customer_id") == std::string_view::npos) {
    return error{errc::invalid_argument, "purchase log line 1: expected the columns' names (customer_id …)"};
  }
  std::vector<purchase> purchases;
  for (std::size_t line_number = 2; !text.empty(); ++line_number) {
    auto const line = take_line(text);
    if (line.empty() && text.empty()) break;
    if (purchases.size() >= purchases_max) {
      return error{errc::exhausted, "purchase log: more than " + std::to_string(purchases_max) + " purchases"};
    }
    auto parsed = parse_line(line, line_number);
    if (!parsed) return parsed.error();
    parsed->number = purchases.size() + 1;
    purchases.push_back(*parsed);
  }
  return purchases;
}

}  // namespace demo
