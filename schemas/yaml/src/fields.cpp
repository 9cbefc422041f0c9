#include <atone/yaml/fields.hpp>

#include <algorithm>
#include <charconv>

#include <atone/yaml/scalars.hpp>

namespace atone::yaml {
namespace {

std::string list_of(std::span<std::string_view const> words) {
  std::string out;
  for (auto const word : words) {
    if (!out.empty()) out += ", ";
    out += word;
  }
  return out;
}

void report_unknown(spot const& map, entry const& member, key_table const& known, report& out) {
  auto const& key = member.key.text;
  auto const path = child_path(map.path, key);
  if (known.waits(key)) {
    return out.mistake(member.key.at, path, "`" + key + "` is not yet supported in this version",
                       "what works now: " + (known.instead.empty() ? list_of(known.now) : std::string{known.instead}));
  }
  auto const message = "unknown key `" + key + "` in " + std::string{known.name};
  if (auto const near = nearest(key, known.now); !near.empty()) {
    return out.mistake(member.key.at, path, message + "; did you mean `" + std::string{near} + "`?");
  }
  if (auto const home = known.home_of(key); !home.empty() && known.knows(home)) {
    return out.mistake(member.key.at, path, message + "; it belongs under `" + std::string{home} + "`");
  }
  out.mistake(member.key.at, path, message, "known keys: " + list_of(known.now));
}

bool is_name(std::string_view text, bool underscore) {
  if (text.empty() || text[0] < 'a' || text[0] > 'z') return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || (underscore && c == '_'); });
}

constexpr std::size_t name_size_max = 64;

void wrong(spot const& at, std::string_view expected, report& out, std::string hint = {}) {
  out.mistake(at, "found " + describe(*at) + "; expected " + std::string{expected}, std::move(hint));
}

}  // namespace

bool expect_map(spot const& at, std::string_view expected, report& out) {
  if (at->is_map()) return true;
  wrong(at, expected, out);
  return false;
}

bool expect_list(spot const& at, std::string_view expected, report& out) {
  if (at->is_sequence()) return true;
  wrong(at, expected, out);
  return false;
}

void check_keys(spot const& map, key_table const& known, report& out) {
  for (auto const& member : map->entries) {
    // The rest of a cut expression: told where the expression begins.
    if (member.left_over || !member.key.is_scalar() || member.key.text == "<<") continue;
    if (!known.knows(member.key.text)) report_unknown(map, member, known, out);
  }
}

std::optional<spot> field(spot const& map, std::string_view key) {
  auto const* value = map->find(key);
  if (value == nullptr) return std::nullopt;
  return map.child(key, *value);
}

std::optional<spot> required_field(spot const& map, std::string_view key, std::string_view hint, report& out) {
  auto found = field(map, key);
  if (!found) out.mistake(map, "`" + std::string{key} + "` is missing", std::string{hint});
  return found;
}

std::optional<std::string> read_text(spot const& at, std::string_view expected, report& out) {
  if (!at->is_scalar()) {
    wrong(at, expected, out);
    return std::nullopt;
  }
  if (is_expression(*at)) {
    wrong(at, expected, out, "an expression is not evaluated here; a text that begins with = is written ==");
    return std::nullopt;
  }
  auto const meaning = meaning_of(*at);
  if (meaning.kind == scalar_kind::text) return std::string{plain_text(*at)};
  if (meaning.kind == scalar_kind::refused) {
    out.mistake(at, meaning.why + "; expected " + std::string{expected}, "quote it if it is a text");
  } else {
    wrong(at, expected, out, "quote it if it is a text");
  }
  return std::nullopt;
}

std::optional<std::string> read_name(spot const& at, std::string_view what, bool underscore, report& out) {
  auto const expected = std::string{what} + ": lower-case letters, digits, '-'" + (underscore ? ", '_'" : "") + ", a letter first";
  if (!at->is_scalar()) {
    wrong(at, expected, out);
    return std::nullopt;
  }
  if (auto const meaning = meaning_of(*at); meaning.kind == scalar_kind::refused) {
    out.mistake(at, meaning.why + "; expected " + expected, "quote it if it is a text");
    return std::nullopt;
  }
  if (at->text.size() > name_size_max) {
    out.mistake(at, "the name has " + std::to_string(at->text.size()) + " characters; the most is " + std::to_string(name_size_max));
    return std::nullopt;
  }
  if (is_name(at->text, underscore) && meaning_of(*at).kind == scalar_kind::text) return at->text;
  wrong(at, expected, out);
  return std::nullopt;
}

std::optional<bool> read_flag(spot const& at, report& out) {
  if (at->is_plain() && at->text == "true") return true;
  if (at->is_plain() && at->text == "false") return false;
  wrong(at, "true or false", out, at->is_scalar() && !at->is_plain() ? "without quotes" : "");
  return std::nullopt;
}

std::optional<std::int64_t> read_integer(spot const& at, std::int64_t least, std::int64_t most, report& out) {
  auto const expected = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  std::int64_t value = 0;
  auto const& text = at->text;
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  auto const exact = at->is_plain() && is_json_integer(text) && failed == std::errc{} && end == text.data() + text.size();
  if (exact && value >= least && value <= most) return value;
  auto const doubtful = at->is_plain() && meaning_of(*at).kind == scalar_kind::refused;
  wrong(at, expected, out, doubtful ? "decimal digits only" : at->is_scalar() && !at->is_plain() ? "without quotes" : "");
  return std::nullopt;
}

std::optional<std::int64_t> read_thousandths(spot const& at, std::int64_t least, std::int64_t most, report& out) {
  auto const& text = at->text;
  auto const point = std::min(text.find('.'), text.size());
  auto const fraction = point < text.size() ? text.substr(point + 1) : std::string{};
  auto const plain = at->is_plain() && is_json_number(text) && text[0] != '-' && text.find_first_of("eE") == std::string::npos;
  std::int64_t whole = 0;
  auto const failed = std::from_chars(text.data(), text.data() + point, whole).ec != std::errc{};
  if (plain && !failed && fraction.size() <= 3 && whole >= 0 && whole <= most / 1000) {
    auto const value = whole * 1000 + std::stoll((fraction + "000").substr(0, 3));
    if (value >= least && value <= most) return value;
  }
  wrong(at, "a number from " + std::to_string(least / 1000) + " to " + std::to_string(most / 1000) + " with at most three decimals", out);
  return std::nullopt;
}

std::optional<duration> read_duration(spot const& at, report& out) {
  constexpr std::string_view expected = "a duration: a whole number and a unit (us, ms, s, m, h, d), as in 250ms or 15m";
  if (!at->is_scalar() || is_expression(*at)) {
    wrong(at, expected, out);
    return std::nullopt;
  }
  auto const read = parse_duration(at->text);
  if (!read) {
    out.mistake(at, read.error().message);
    return std::nullopt;
  }
  if (read->count() > 0) return *read;
  wrong(at, "a duration longer than zero", out);
  return std::nullopt;
}

std::optional<std::size_t> read_word(spot const& at, std::span<std::string_view const> words, report& out) {
  if (at->is_scalar()) {
    auto const found = std::find(words.begin(), words.end(), at->text);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  }
  auto const near = at->is_scalar() ? nearest(at->text, words) : std::string_view{};
  auto const more = near.empty() ? std::string{} : "; did you mean `" + std::string{near} + "`?";
  out.mistake(at, "found " + describe(*at) + "; expected " + (words.size() > 1 ? "one of " : "") + list_of(words) + more);
  return std::nullopt;
}

}  // namespace atone::yaml
