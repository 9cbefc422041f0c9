#include "string_literal.hpp"

#include <atone/utf8.hpp>

namespace atone::expr {
namespace {

int digit_value(char character, int base) noexcept {
  int value = -1;
  if (character >= '0' && character <= '9') value = character - '0';
  if (character >= 'a' && character <= 'f') value = character - 'a' + 10;
  if (character >= 'A' && character <= 'F') value = character - 'A' + 10;
  return value < base ? value : -1;
}

// A numeric escape: how many characters introduce it, how many digits follow, in which base.
struct numeric_escape {
  std::size_t skip = 0, digits = 0;
  int base = 16;
};

numeric_escape numeric_form(char letter) noexcept {
  switch (letter) {
    case 'x':
    case 'X': return {2, 2, 16};
    case 'u': return {2, 4, 16};
    case 'U': return {2, 8, 16};
    case '0':
    case '1':
    case '2':
    case '3': return {1, 3, 8};
    default: return {};
  }
}

// `at` stands on the backslash and is moved behind the escape. Nothing: fine.
std::optional<mistake> append_numeric(std::string& out, std::string_view text, std::size_t& at, numeric_escape form) {
  auto const from = at;
  char32_t code = 0;
  for (std::size_t i = 0; i < form.digits; ++i) {
    auto const place = at + form.skip + i;
    int const digit = place < text.size() ? digit_value(text[place], form.base) : -1;
    if (digit < 0) {
      return mistake{from, form.skip,
                     "this escape needs " + std::to_string(form.digits) + (form.base == 8 ? " octal digits" : " hex digits")};
    }
    code = code * static_cast<char32_t>(form.base) + static_cast<char32_t>(digit);
  }
  at += form.skip + form.digits;
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return mistake{from, at - from, "this escape is not a Unicode character"};
  append_utf8(out, code);
  return std::nullopt;
}

std::optional<mistake> append_escape(std::string& out, std::string_view text, std::size_t& at) {
  constexpr std::string_view letters = "\\?\"'`abfnrtv", meant = "\\?\"'`\a\b\f\n\r\t\v";
  if (at + 1 >= text.size()) return mistake{at, 1, "nothing follows the backslash"};
  auto const letter = text[at + 1];
  auto const known = letters.find(letter);
  if (known != std::string_view::npos) {
    out += meant[known];
    at += 2;
    return std::nullopt;
  }
  auto const form = numeric_form(letter);
  if (form.digits > 0) return append_numeric(out, text, at, form);
  return mistake{at, 2, "unknown escape; known are \\\\ \\? \\\" \\' \\` \\a \\b \\f \\n \\r \\t \\v \\xHH \\uHHHH \\UHHHHHHHH and \\ooo"};
}

}  // namespace

result<string_literal, mistake> read_string_literal(std::string_view text, std::size_t quote, bool raw) {
  std::string const single(1, text[quote]);
  bool const triple = text.substr(quote, 3) == single + single + single;
  auto const closing = triple ? single + single + single : single;
  string_literal read;
  for (auto at = quote + closing.size(); at < text.size();) {
    if (text.substr(at, closing.size()) == closing) {
      read.end = at + closing.size();
      return read;
    }
    if (!triple && (text[at] == '\n' || text[at] == '\r')) break;
    if (text[at] == '\\' && !raw) {
      if (auto wrong = append_escape(read.content, text, at)) return std::move(*wrong);
    } else {
      read.content += text[at++];
    }
  }
  return mistake{quote, 1, "this string is not closed; expected " + closing};
}

}  // namespace atone::expr
