// A parser of our own: it keeps exact bytes, sees duplicate keys, and says line and column, with no recursion.
// (Boost.JSON's DOM rewrites numbers, and its SAX form knows neither keys nor lines.)
#include "parser.hpp"

#include <algorithm>
#include <array>
#include <forward_list>
#include <limits>

#include <atone/utf8.hpp>

namespace atone::json {
namespace {

constexpr bool is_digit(char character) noexcept {
  return character >= '0' && character <= '9';
}

int hex_value(char character) noexcept {
  if (is_digit(character)) return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return -1;
}

// "3:14": lines and columns from 1, columns in characters.
std::string place(std::string_view text, std::size_t at) {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i < at && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++column;
    }
  }
  return std::to_string(line) + ':' + std::to_string(column);
}

std::string hex_byte(char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  auto const bits = static_cast<unsigned char>(byte);
  return {'0', 'x', digits[bits >> 4], digits[bits & 15]};
}

}  // namespace

bool parser::fail(std::size_t at, std::string what, errc code) {
  failure_ = error{code, place(text_, at) + ": " + std::move(what)};
  return false;
}

std::string parser::found_here() const {
  if (at_ >= text_.size()) return "the end of the text";
  if (static_cast<unsigned char>(text_[at_]) < 0x20) return "the control character " + hex_byte(text_[at_]);
  return "'" + std::string{text_.substr(at_, utf8_length(text_, at_))} + "'";
}

bool parser::unexpected(std::string_view expected) {
  return fail(at_, "expected " + std::string{expected} + ", found " + found_here());
}

bool parser::check_text() {
  auto const most = std::min<std::size_t>(bounds_.bytes_max, std::numeric_limits<std::uint32_t>::max() / 2);
  if (text_.size() > most) {
    failure_ = error{errc::exhausted,
                     "JSON text of " + std::to_string(text_.size()) + " bytes; at most " + std::to_string(most) + " are accepted"};
    return false;
  }
  if (text_.starts_with("\xEF\xBB\xBF")) return fail(0, "begins with a byte order mark; JSON is plain UTF-8 without one");
  auto const bad = find_bad_utf8(text_);
  if (bad != std::string_view::npos) return fail(bad, "not UTF-8: byte " + hex_byte(text_[bad]));
  return true;
}

void parser::skip_space() noexcept {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) ++at_;
}

bool parser::run() {
  if (!check_text()) return false;
  nodes_.reserve(std::min<std::size_t>(text_.size() / 8 + 4, 4096));
  open_.reserve(8);
  for (bool finished = false; !finished;) {
    skip_space();
    if (!value() || !after_value(finished)) return false;
  }
  skip_space();
  return at_ == text_.size() || unexpected("the end of the text");
}

// One scalar, or the opening of an array or object up to where its first value begins.
bool parser::value() {
  for (;;) {
    if (at_ >= text_.size()) return unexpected("a value");
    switch (text_[at_]) {
      case '{':
        if (!open(kind::object)) return false;
        if (next_is('}')) return close();
        if (!key()) return false;
        break;
      case '[':
        if (!open(kind::array)) return false;
        if (next_is(']')) return close();
        break;
      case '"': {
        auto const begin = at_;
        return add(kind::string, begin) && string();
      }
      case 't': return literal("true", kind::boolean, true);
      case 'f': return literal("false", kind::boolean, false);
      case 'n': return literal("null", kind::null, false);
      default: return number();
    }
  }
}

bool parser::add(kind of, std::size_t begin) {
  if (++values_ > bounds_.values_max) {
    return fail(begin, "more than " + std::to_string(bounds_.values_max) + " values in one text", errc::exhausted);
  }
  if (!open_.empty()) ++nodes_[open_.back()].count;
  node added;
  added.begin = static_cast<std::uint32_t>(begin);
  added.kind = of;
  nodes_.push_back(added);
  nodes_.back().after = static_cast<std::uint32_t>(nodes_.size());
  return true;
}

bool parser::open(kind of) {
  if (open_.size() >= bounds_.depth_max) {
    return fail(at_, "nested deeper than " + std::to_string(bounds_.depth_max) + " levels", errc::exhausted);
  }
  if (!add(of, at_)) return false;
  open_.push_back(static_cast<std::uint32_t>(nodes_.size() - 1));
  ++at_;
  skip_space();
  return true;
}

bool parser::close() {
  auto const index = open_.back();
  ++at_;
  open_.pop_back();
  nodes_[index].end = static_cast<std::uint32_t>(at_);
  nodes_[index].after = static_cast<std::uint32_t>(nodes_.size());
  return nodes_[index].kind == kind::array || unique_keys(index);
}

// Closes what ends here and stops where the next value begins.
bool parser::after_value(bool& finished) {
  for (;;) {
    if (open_.empty()) {
      finished = true;
      return true;
    }
    skip_space();
    bool const object = nodes_[open_.back()].kind == kind::object;
    if (next_is(',')) {
      ++at_;
      skip_space();
      return !object || key();
    }
    if (!next_is(object ? '}' : ']')) return unexpected(object ? "',' or '}'" : "',' or ']'");
    if (!close()) return false;
  }
}

// A member's key and the colon behind it. Keys are nodes, but no values.
bool parser::key() {
  if (!next_is('"')) return unexpected("a key in double quotes");
  node added;
  added.begin = static_cast<std::uint32_t>(at_);
  added.kind = kind::string;
  nodes_.push_back(added);
  nodes_.back().after = static_cast<std::uint32_t>(nodes_.size());
  if (!string()) return false;
  skip_space();
  if (!next_is(':')) return unexpected("':' after the key");
  ++at_;
  skip_space();
  return true;
}

// Sorted, not hashed: the cost is the same whatever keys a sender chooses.
bool parser::unique_keys(std::uint32_t object) {
  if (nodes_[object].count < 2) return true;
  using key_at = std::pair<std::string_view, std::uint32_t>;
  std::forward_list<std::string> decoded;
  std::array<key_at, 16> few;  // most objects have few keys: no allocation
  std::vector<key_at> many;
  if (nodes_[object].count > few.size()) many.resize(nodes_[object].count);
  auto* const first = many.empty() ? few.data() : many.data();
  auto* last = first;
  for (auto at = object + 1; at < nodes_[object].after; at = nodes_[at + 1].after) {
    auto const& key = nodes_[at];
    auto text = text_.substr(key.begin + 1, key.end - key.begin - 2);
    if (key.escaped) text = decoded.emplace_front(decode_string(text_.substr(key.begin, key.end - key.begin)));
    *last++ = key_at{text, key.begin};
  }
  std::sort(first, last);
  auto const same = [](key_at const& left, key_at const& right) { return left.first == right.first; };
  auto const* const twice = std::adjacent_find(first, last, same);
  if (twice == last) return true;
  std::string shown;
  append_string(shown, twice->first.substr(0, 64));
  return fail((twice + 1)->second, "duplicate key " + shown + ", first given at " + place(text_, twice->second));
}

bool parser::literal(std::string_view word, kind of, bool truth) {
  if (text_.substr(at_, word.size()) != word) return unexpected("a value");
  auto const begin = at_;
  at_ += word.size();
  if (!add(of, begin)) return false;
  nodes_.back().end = static_cast<std::uint32_t>(at_);
  nodes_.back().truth = truth;
  return true;
}

bool parser::digits(std::string_view where) {
  if (at_ >= text_.size() || !is_digit(text_[at_])) return unexpected("a digit " + std::string{where});
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  return true;
}

// number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ "+" / "-" ] 1*digit ]
bool parser::number() {
  auto const begin = at_;
  if (next_is('-')) ++at_;
  if (at_ == begin && (at_ >= text_.size() || !is_digit(text_[at_]))) return unexpected("a value");
  bool const zero = next_is('0');
  auto const first = at_;
  if (!digits("after '-'")) return false;
  if (zero && at_ - first > 1) return fail(begin, "a number may not begin with a zero");
  if (next_is('.')) {
    ++at_;
    if (!digits("after '.'")) return false;
  }
  if (next_is('e') || next_is('E')) {
    ++at_;
    if (next_is('+') || next_is('-')) ++at_;
    if (!digits("in the exponent")) return false;
  }
  if (!add(kind::number, begin)) return false;
  nodes_.back().end = static_cast<std::uint32_t>(at_);
  return true;
}

// Reads the literal whose node was added last.
bool parser::string() {
  ++at_;
  for (;;) {
    if (at_ >= text_.size()) return unexpected("a closing '\"'");
    char const here = text_[at_];
    if (here == '"') break;
    if (static_cast<unsigned char>(here) < 0x20) return fail(at_, found_here() + " inside a string must be escaped");
    if (here == '\\') {
      nodes_.back().escaped = true;
      if (!escape()) return false;
    } else {
      ++at_;
    }
  }
  ++at_;
  nodes_.back().end = static_cast<std::uint32_t>(at_);
  return true;
}

bool parser::escape() {
  auto const from = at_;
  ++at_;
  if (at_ < text_.size() && std::string_view{"\"\\/bfnrt"}.find(text_[at_]) != std::string_view::npos) {
    ++at_;
    return true;
  }
  if (next_is('u')) return unicode_escape(from);
  return unexpected("one of \" \\ / b f n r t u after '\\'");
}

bool parser::unicode_escape(std::size_t from) {
  std::uint32_t code = 0;
  if (!four_digits(code, from)) return false;
  if (code >= 0xDC00 && code <= 0xDFFF) return fail(from, "unpaired surrogate escape");
  if (code < 0xD800 || code > 0xDBFF) return true;
  if (text_.substr(at_, 2) != "\\u") return fail(from, "unpaired surrogate escape");
  ++at_;
  if (!four_digits(code, from)) return false;
  return (code >= 0xDC00 && code <= 0xDFFF) || fail(from, "unpaired surrogate escape");
}

bool parser::four_digits(std::uint32_t& code, std::size_t from) {
  code = 0;
  for (std::size_t count = 0; count < 4; ++count) {
    ++at_;
    int const digit = at_ < text_.size() ? hex_value(text_[at_]) : -1;
    if (digit < 0) return fail(from, "expected four hex digits after '\\u'");
    code = code << 4 | static_cast<std::uint32_t>(digit);
  }
  ++at_;
  return true;
}

std::string decode_string(std::string_view literal) {
  auto const text = literal.substr(1, literal.size() - 2);
  std::string out;
  out.reserve(text.size());
  auto const unit = [&](std::size_t at) {
    char32_t code = 0;
    for (std::size_t digit = 0; digit < 4; ++digit) code = code << 4 | static_cast<char32_t>(hex_value(text[at + digit]));
    return code;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    ++at;
    constexpr std::string_view names = "bfnrt", meant = "\b\f\n\r\t";
    auto const known = names.find(text[at]);
    if (known != std::string_view::npos) {
      out += meant[known];
    } else if (text[at] != 'u') {
      out += text[at];
    } else {
      char32_t code = unit(at + 1);
      at += 4;
      if (code >= 0xD800 && code <= 0xDBFF) {
        code = 0x10000 + ((code - 0xD800) << 10) + (unit(at + 3) - 0xDC00);
        at += 6;
      }
      append_utf8(out, code);
    }
  }
  return out;
}

result<value> parse(std::string text, limits const& bounds) {
  parser reading{text, bounds};
  if (!reading.run()) return reading.failure();
  auto nodes = reading.take();
  return document::make(std::make_shared<document const>(std::move(text), std::move(nodes)), 0);
}

}  // namespace atone::json
