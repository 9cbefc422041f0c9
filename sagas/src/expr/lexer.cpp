#include "lexer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <atone/utf8.hpp>
#include "string_literal.hpp"

namespace atone::expr {
namespace {

constexpr bool is_digit(char character) noexcept {
  return character >= '0' && character <= '9';
}
constexpr bool is_hex(char character) noexcept {
  return is_digit(character) || (character >= 'a' && character <= 'f') || (character >= 'A' && character <= 'F');
}
constexpr bool is_letter(char character) noexcept {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '_';
}

constexpr std::array<std::string_view, 6> long_symbols{"&&", "||", "==", "!=", "<=", ">="};
constexpr std::string_view short_symbols = "+-*/%!<>?:.,()[]{}";

class lexer {
 public:
  explicit lexer(std::string_view text) : text_(text) {}

  result<std::vector<token>, mistake> run() {
    for (;;) {
      skip_space();
      if (at_ >= text_.size()) break;
      auto next = one();
      if (!next) return std::move(next.error());
      tokens_.push_back(std::move(*next));
    }
    token end;
    end.offset = text_.size();
    tokens_.push_back(std::move(end));
    return std::move(tokens_);
  }

 private:
  using scanned = result<token, mistake>;

  char peek(std::size_t ahead = 0) const noexcept { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_space() noexcept {
    while (at_ < text_.size()) {
      if (std::string_view{" \t\n\f\r"}.find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  token made(token_kind kind, std::size_t begin) const {
    token read;
    read.kind = kind;
    read.offset = begin;
    read.length = at_ - begin;
    return read;
  }

  scanned one() {
    char const here = peek();
    if (here == '"' || here == '\'') return string(at_, at_, false);
    if (is_letter(here)) return word();
    if (is_digit(here) || (here == '.' && is_digit(peek(1)))) return number();
    return symbol();
  }

  scanned word() {
    auto const begin = at_;
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    auto const text = text_.substr(begin, at_ - begin);
    if (peek() == '"' || peek() == '\'') {
      if (text == "r" || text == "R") return string(begin, at_, true);
      std::string lower{text};
      std::transform(lower.begin(), lower.end(), lower.begin(), [](char one) { return one == 'B' ? 'b' : one == 'R' ? 'r' : one; });
      if (lower == "b" || lower == "br" || lower == "rb") return mistake{begin, text.size(), "bytes are not supported; use a string"};
    }
    auto read = made(token_kind::identifier, begin);
    read.text = text;
    return read;
  }

  scanned string(std::size_t begin, std::size_t quote, bool raw) {
    auto literal = read_string_literal(text_, quote, raw);
    if (!literal) return std::move(literal.error());
    at_ = literal->end;
    auto read = made(token_kind::string, begin);
    read.text = std::move(literal->content);
    return read;
  }

  scanned number() {
    auto const begin = at_;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) return hexadecimal();
    while (is_digit(peek())) ++at_;
    bool real = false;
    if (peek() == '.' && is_digit(peek(1))) {
      real = true;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    std::size_t const sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      real = true;
      at_ += 1 + sign;
      while (is_digit(peek())) ++at_;
    }
    return real ? floating(begin) : integer(begin, begin, 10);
  }

  scanned hexadecimal() {
    auto const begin = at_;
    at_ += 2;
    while (is_hex(peek())) ++at_;
    if (at_ == begin + 2) return mistake{begin, 2, "hex digits are missing after 0x"};
    return integer(begin, begin + 2, 16);
  }

  scanned integer(std::size_t begin, std::size_t digits, int base) {
    auto const text = text_.substr(digits, at_ - digits);
    if (base == 10 && text.size() > 1 && text.front() == '0') {
      return mistake{begin, text.size(), "an integer may not begin with 0; hexadecimal is written 0x1F"};
    }
    std::uint64_t whole = 0;
    auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), whole, base);
    if (failed != std::errc{}) return mistake{begin, at_ - begin, "this integer is larger than 64 bits hold"};
    bool const without_sign = peek() == 'u' || peek() == 'U';
    if (without_sign) ++at_;
    if (is_letter(peek()) || is_digit(peek())) return mistake{begin, at_ - begin + 1, "a name may not follow a number directly"};
    auto read = made(without_sign ? token_kind::unsigned_integer : token_kind::integer, begin);
    read.whole = whole;
    return read;
  }

  scanned floating(std::size_t begin) {
    if (is_letter(peek())) return mistake{begin, at_ - begin + 1, "a name may not follow a number directly"};
    std::string text{text_.substr(begin, at_ - begin)};
    if (text.front() == '.') text.insert(0, 1, '0');
    auto read = made(token_kind::floating, begin);
    auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), read.real);
    if (failed != std::errc{}) return mistake{begin, at_ - begin, "this number is outside what a double holds"};
    return read;
  }

  scanned symbol() {
    auto const begin = at_;
    auto const pair = text_.substr(at_, 2);
    bool const two = std::find(long_symbols.begin(), long_symbols.end(), pair) != long_symbols.end();
    if (!two && short_symbols.find(peek()) == std::string_view::npos) return unknown_symbol();
    at_ += two ? 2 : 1;
    auto read = made(token_kind::symbol, begin);
    read.text = text_.substr(begin, at_ - begin);
    return read;
  }

  mistake unknown_symbol() const {
    auto const shown = std::string{text_.substr(at_, utf8_length(text_, at_))};
    if (shown == "=") return mistake{at_, 1, "'=' is no operator; equality is written =="};
    if (shown == "&" || shown == "|") return mistake{at_, 1, "'" + shown + "' is no operator; write " + shown + shown};
    return mistake{at_, shown.size(), "unexpected character '" + shown + "'"};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<token> tokens_;
};

}  // namespace

std::string token::shown(std::string_view source) const {
  if (kind == token_kind::end) return "the end";
  return "'" + std::string{source.substr(offset, std::min<std::size_t>(length, 40))} + "'";
}

result<std::vector<token>, mistake> tokenize(std::string_view text) {
  return lexer{text}.run();
}

}  // namespace atone::expr
