#include "copy_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <atone/utf8.hpp>

namespace atone::dump {
namespace {

constexpr std::array escapes{std::pair{'b', '\b'}, std::pair{'f', '\f'}, std::pair{'n', '\n'},
                             std::pair{'r', '\r'}, std::pair{'t', '\t'}, std::pair{'v', '\v'}};

std::optional<unsigned> digit_of(char character, unsigned base) {
  unsigned value = 16;
  if (character >= '0' && character <= '9') value = static_cast<unsigned>(character - '0');
  if (character >= 'a' && character <= 'f') value = static_cast<unsigned>(character - 'a') + 10;
  if (character >= 'A' && character <= 'F') value = static_cast<unsigned>(character - 'A') + 10;
  if (value >= base) return std::nullopt;
  return value;
}

error no_row(std::string what) {
  return error{errc::corrupt, std::move(what)};
}

// Up to `most` digits from `at` on; `at` is left behind them.
char take_code(std::string_view text, std::size_t& at, unsigned base, std::size_t most) {
  unsigned value = 0;
  for (std::size_t taken = 0; taken < most && at < text.size(); ++taken, ++at) {
    auto const digit = digit_of(text[at], base);
    if (!digit) break;
    value = value * base + *digit;
  }
  return static_cast<char>(static_cast<unsigned char>(value));
}

// What the escape at `at`, behind its backslash, stands for. As the server reads it: an unknown one stands for itself.
char take_escape(std::string_view text, std::size_t& at) {
  char const what = text[at];
  if (digit_of(what, 8)) return take_code(text, at, 8, 3);
  ++at;
  if (what == 'x' && at < text.size() && digit_of(text[at], 16)) return take_code(text, at, 16, 2);
  auto const known = std::find_if(escapes.begin(), escapes.end(), [&](auto const& one) { return one.first == what; });
  return known == escapes.end() ? what : known->second;
}

result<std::string> unescape(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    auto const plain = std::min(text.find('\\', at), text.size());
    made.append(text.substr(at, plain - at));
    at = plain;
    if (at == text.size()) break;
    if (++at == text.size()) return no_row("found a backslash at a field's end; expected what it escapes");
    made += take_escape(text, at);
  }
  return made;
}

// What an escape stands for is looked at too: no server has other text than this.
result<void> check_text(std::string_view text) {
  if (find_bad_utf8(text) != std::string_view::npos) return no_row("found bytes that are not UTF-8");
  if (text.find('\0') != std::string_view::npos) return no_row("found a zero byte; expected text");
  return {};
}

std::string escape(std::string_view text) {
  std::string made;
  for (char const character : text) {
    auto const known = std::find_if(escapes.begin(), escapes.end(), [&](auto const& one) { return one.second == character; });
    if (known != escapes.end()) {
      made += {'\\', known->first};
    } else {
      if (character == '\\') made += '\\';
      made += character;
    }
  }
  return made;
}

std::optional<std::string> hex_bytes(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    auto const high = digit_of(digits[at], 16);
    auto const low = digit_of(digits[at + 1], 16);
    if (!high || !low) return std::nullopt;
    bytes += static_cast<char>(static_cast<unsigned char>(*high << 4U | *low));
  }
  return bytes;
}

// bytea_output = escape: a backslash is doubled, other bytes are three octal digits.
std::optional<std::string> octal_bytes(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size();) {
    char const character = text[at++];
    if (character != '\\') {
      bytes += character;
    } else if (at < text.size() && text[at] == '\\') {
      bytes += text[at++];
    } else {
      auto const begin = at;
      auto const value = take_code(text, at, 8, 3);
      if (at - begin != 3) return std::nullopt;
      bytes += value;
    }
  }
  return bytes;
}

// Reads a date and time front to back.
class clock_text {
 public:
  explicit clock_text(std::string_view text) : rest_(text) {}

  bool at_end() const noexcept { return rest_.empty(); }
  bool take(char expected) {
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // A number of `least` to `most` digits.
  std::optional<std::int64_t> number(std::size_t least, std::size_t most) {
    auto const digits = std::min({rest_.find_first_not_of("0123456789"), rest_.size(), most});
    if (digits < least) return std::nullopt;
    auto const value = parse_number<std::int64_t>(rest_.substr(0, digits));
    rest_.remove_prefix(digits);
    return value;
  }
  // One to six decimals, as microseconds.
  std::optional<std::int64_t> decimals() {
    auto const before = rest_.size();
    auto value = number(1, 6);
    for (auto taken = before - rest_.size(); value && taken < 6; ++taken) *value *= 10;
    return value;
  }

 private:
  std::string_view rest_;
};

std::optional<std::chrono::sys_days> take_date(clock_text& from) {
  auto const year = from.number(4, 6);
  auto const month = year && from.take('-') ? from.number(2, 2) : std::nullopt;
  auto const day = month && from.take('-') ? from.number(2, 2) : std::nullopt;
  if (!day || *year > 32767) return std::nullopt;
  std::chrono::year_month_day const date{std::chrono::year{static_cast<int>(*year)}, std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date};
}

// "+00", "-03:30", "+05:30:15"
std::optional<duration> take_zone(clock_text& from) {
  bool const west = from.take('-');
  if (!west && !from.take('+')) return std::nullopt;
  duration made{0};
  for (auto const unit : {duration{std::chrono::hours{1}}, duration{std::chrono::minutes{1}}, duration{std::chrono::seconds{1}}}) {
    auto const value = from.number(2, 2);
    if (!value) return std::nullopt;
    made += *value * unit;
    if (from.at_end()) return west ? -made : made;
    if (!from.take(':')) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<duration> take_time(clock_text& from) {
  auto const hour = from.number(2, 2);
  auto const minute = hour && from.take(':') ? from.number(2, 2) : std::nullopt;
  auto const second = minute && from.take(':') ? from.number(2, 2) : std::nullopt;
  if (!second || *hour > 24 || *minute > 59 || *second > 60) return std::nullopt;
  duration made = std::chrono::hours{*hour} + std::chrono::minutes{*minute} + std::chrono::seconds{*second};
  if (!from.take('.')) return made;
  auto const micro = from.decimals();
  if (!micro) return std::nullopt;
  return made + duration{*micro};
}

}  // namespace

result<copy_fields> split_copy_line(std::string_view line, std::size_t width) {
  auto const count = static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1;
  if (count != width) return no_row("found " + std::to_string(count) + " fields; expected " + std::to_string(width));
  if (line.find('\r') != std::string_view::npos) {
    return no_row("found a carriage return; expected \\r in its place: something has changed the line ends");
  }
  copy_fields fields;
  fields.reserve(width);
  for (std::size_t at = 0; at <= line.size();) {
    auto const end = std::min(line.find('\t', at), line.size());
    auto const raw = line.substr(at, end - at);
    at = end + 1;
    if (raw == "\\N") {
      fields.emplace_back();
      continue;
    }
    auto text = unescape(raw);
    if (!text) return text.error();
    if (auto fine = check_text(*text); !fine) return fine.error();
    fields.emplace_back(std::move(*text));
  }
  return fields;
}

std::string copy_line(copy_fields const& fields) {
  std::string line;
  for (auto const& field : fields) {
    if (&field != &fields.front()) line += '\t';
    line += field ? escape(*field) : "\\N";
  }
  return line;
}

std::optional<std::string> parse_bytea(std::string_view text) {
  return text.starts_with("\\x") ? hex_bytes(text.substr(2)) : octal_bytes(text);
}

std::optional<saga_id> parse_uuid(std::string_view text) {
  constexpr std::array<std::size_t, 4> hyphens{8, 13, 18, 23};
  if (text.size() != 36) return std::nullopt;
  std::string digits;
  for (std::size_t at = 0; at < text.size(); ++at) {
    bool const expected = std::find(hyphens.begin(), hyphens.end(), at) != hyphens.end();
    if (expected != (text[at] == '-')) return std::nullopt;
    if (!expected) digits += text[at];
  }
  auto const raw = hex_bytes(digits);
  if (!raw) return std::nullopt;
  saga_id::bytes bytes{};
  std::copy(raw->begin(), raw->end(), bytes.begin());
  return saga_id{bytes};
}

std::optional<timestamp> parse_timestamptz(std::string_view text) {
  clock_text from{text};
  auto const date = take_date(from);
  auto const time = date && from.take(' ') ? take_time(from) : std::nullopt;
  auto const zone = time ? take_zone(from) : std::nullopt;
  if (!zone) return std::nullopt;
  return timestamp{*date} + *time - *zone;
}

}  // namespace atone::dump
