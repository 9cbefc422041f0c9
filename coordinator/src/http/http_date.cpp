#include "http/http_date.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

namespace atone::http {
namespace {

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

// Takes words, numbers and separators off the front; the first failure sticks.
class scanner {
 public:
  explicit scanner(std::string_view text) : rest_(text) {}

  void skip_word() noexcept {
    while (!rest_.empty() && ((rest_.front() >= 'A' && rest_.front() <= 'Z') || (rest_.front() >= 'a' && rest_.front() <= 'z'))) {
      rest_.remove_prefix(1);
    }
  }
  void expect(std::string_view text) noexcept {
    if (rest_.substr(0, text.size()) != text) failed_ = true;
    rest_.remove_prefix(std::min(text.size(), rest_.size()));
  }
  bool next_is(char c) const noexcept { return !rest_.empty() && rest_.front() == c; }
  int number(std::size_t digits) noexcept {
    int value = 0;
    auto const part = rest_.substr(0, digits);
    auto const [end, failure] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (part.size() != digits || failure != std::errc{} || end != part.data() + digits || part.front() == '-') failed_ = true;
    rest_.remove_prefix(part.size());
    return value;
  }
  int month() noexcept {
    for (std::size_t at = 0; at < months.size(); ++at) {
      if (rest_.substr(0, 3) != months[at]) continue;
      rest_.remove_prefix(3);
      return static_cast<int>(at) + 1;
    }
    failed_ = true;
    return 1;
  }
  bool complete() const noexcept { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

struct fields {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
};

void read_clock(scanner& from, fields& into) noexcept {
  into.hour = from.number(2);
  from.expect(":");
  into.minute = from.number(2);
  from.expect(":");
  into.second = from.number(2);
}

// After "Sun, " or "Sunday, ".
void read_day_first(scanner& from, fields& into) noexcept {
  into.day = from.number(2);
  bool const short_form = from.next_is('-');
  auto const separator = short_form ? std::string_view{"-"} : std::string_view{" "};
  from.expect(separator);
  into.month = from.month();
  from.expect(separator);
  into.year = from.number(short_form ? 2 : 4);
  // Two digits: RFC 9110 asks for the nearest century in the past beyond 50 years; a fixed pivot serves this century.
  if (short_form) into.year += into.year < 70 ? 2000 : 1900;
  from.expect(" ");
  read_clock(from, into);
  from.expect(" GMT");
}

// After "Sun ".
void read_asctime(scanner& from, fields& into) noexcept {
  into.month = from.month();
  from.expect(" ");
  if (from.next_is(' ')) {
    from.expect(" ");
    into.day = from.number(1);
  } else {
    into.day = from.number(2);
  }
  from.expect(" ");
  read_clock(from, into);
  from.expect(" ");
  into.year = from.number(4);
}

}  // namespace

std::string format_http_date(timestamp at) {
  auto const day = std::chrono::floor<std::chrono::days>(at);
  auto const date = std::chrono::year_month_day{day};
  auto const clock = std::chrono::hh_mm_ss{std::chrono::floor<std::chrono::seconds>(at - day)};
  auto const weekday = days[std::chrono::weekday{day}.c_encoding()];
  auto const month = months[static_cast<unsigned>(date.month()) - 1];
  std::array<char, 64> text{};
  auto const size =
      std::snprintf(text.data(), text.size(), "%.3s, %02u %.3s %04d %02d:%02d:%02d GMT", weekday.data(), static_cast<unsigned>(date.day()),
                    month.data(), static_cast<int>(date.year()), static_cast<int>(clock.hours().count()),
                    static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()));
  return {text.data(), static_cast<std::size_t>(size)};
}

std::optional<timestamp> parse_http_date(std::string_view text) noexcept {
  scanner from{text};
  fields read;
  from.skip_word();
  if (from.next_is(',')) {
    from.expect(", ");
    read_day_first(from, read);
  } else {
    from.expect(" ");
    read_asctime(from, read);
  }
  if (!from.complete() || read.hour > 23 || read.minute > 59 || read.second > 60) return std::nullopt;
  auto const date = std::chrono::year{read.year} / read.month / read.day;
  if (!date.ok()) return std::nullopt;
  return timestamp{std::chrono::sys_days{date}.time_since_epoch() + std::chrono::hours{read.hour} + std::chrono::minutes{read.minute} +
                   std::chrono::seconds{read.second}};
}

}  // namespace atone::http
