#include "postgres/named_parameters.hpp"

#include <algorithm>
#include <array>

namespace atone::postgres {
namespace {

bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '_' ||
         static_cast<unsigned char>(character) >= 128;
}
bool is_digit(char character) {
  return character >= '0' && character <= '9';
}
bool is_word(char character) {
  return is_letter(character) || is_digit(character) || character == '$';
}

// Copies a statement piece by piece; what is not code is copied untouched.
class scanner {
 public:
  explicit scanner(std::string_view text) : text_(text) {}

  result<numbered_statement> run() {
    while (at_ < text_.size()) {
      if (auto fine = step(); !fine) return fine.error();
    }
    return std::move(out_);
  }

 private:
  result<void> step() {
    char const now = text_[at_];
    if (now == '\'') return quoted('\'', escapes_before());
    if (now == '"') return quoted('"', false);
    if (now == '-' && next() == '-') return copy_until(text_.find('\n', at_), 0, "");
    if (now == '/' && next() == '*') return block_comment();
    if (now == '$' && !follows_word()) return dollar();
    if (now == ':') return colon();
    out_.text += now;
    ++at_;
    return {};
  }

  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }
  bool follows_word() const { return at_ > 0 && is_word(text_[at_ - 1]); }
  // E'…' takes backslashes as escapes.
  bool escapes_before() const {
    if (at_ == 0 || (text_[at_ - 1] != 'E' && text_[at_ - 1] != 'e')) return false;
    return at_ == 1 || !is_word(text_[at_ - 2]);
  }

  result<void> copy_until(std::size_t end, std::size_t including, std::string_view what) {
    if (end == std::string_view::npos && !what.empty()) {
      return error{errc::bad_data,
                   "the statement has a " + std::string{what} + " at byte " + std::to_string(at_ + 1) + " that does not end"};
    }
    auto const stop = end == std::string_view::npos ? text_.size() : end + including;
    out_.text += text_.substr(at_, stop - at_);
    at_ = stop;
    return {};
  }

  // A doubled quote is one ended and the next begun: no case of its own.
  result<void> quoted(char quote, bool escapes) {
    auto end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += escapes && text_[end] == '\\' ? 2 : 1;
    return copy_until(end < text_.size() ? end : std::string_view::npos, 1, quote == '"' ? "quoted name" : "string");
  }

  result<void> block_comment() {
    std::size_t depth = 0;
    for (auto end = at_; end + 1 < text_.size(); ++end) {
      auto const pair = text_.substr(end, 2);
      if (pair == "/*") {
        ++depth;
        ++end;
      } else if (pair == "*/") {
        ++end;
        if (--depth == 0) return copy_until(end, 1, "");
      }
    }
    return copy_until(std::string_view::npos, 0, "comment");
  }

  // $tag$ … $tag$, or a lone $ (left to the server).
  result<void> dollar() {
    auto end = at_ + 1;
    while (end < text_.size() && is_word(text_[end]) && text_[end] != '$') ++end;
    bool const opens = end < text_.size() && text_[end] == '$' && !is_digit(next());
    if (!opens) return copy_until(at_, 1, "");
    auto const tag = text_.substr(at_, end - at_ + 1);
    return copy_until(text_.find(tag, end + 1), tag.size(), "dollar-quoted string");
  }

  result<void> colon() {
    bool const cast = next() == ':';
    bool const names = is_letter(next()) && !follows_word() && !(at_ > 0 && text_[at_ - 1] == ']');
    if (cast || !names) return copy_until(at_, cast ? 2 : 1, "");
    auto end = at_ + 1;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    out_.text += '$' + std::to_string(number_of(std::string{text_.substr(at_ + 1, end - at_ - 1)}));
    at_ = end;
    return {};
  }

  std::size_t number_of(std::string name) {
    auto const known = std::find(out_.names.begin(), out_.names.end(), name);
    if (known != out_.names.end()) return static_cast<std::size_t>(known - out_.names.begin()) + 1;
    out_.names.push_back(std::move(name));
    return out_.names.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  numbered_statement out_;
};

// The first word, in lower case, after blanks and comments.
std::string first_word(std::string_view text) {
  for (;;) {
    auto const begin = text.find_first_not_of(" \t\r\n\f\v;(");
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    auto const is_line = text.starts_with("--");
    if (!is_line && !text.starts_with("/*")) break;
    auto const end = text.find(is_line ? "\n" : "*/");
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + (is_line ? 1 : 2));
  }
  std::string word;
  for (char const character : text) {
    if (!is_letter(character)) break;
    word += character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
  }
  return word;
}

}  // namespace

result<void> check_no_transaction_control(std::string_view statement) {
  constexpr std::array<std::string_view, 12> forbidden{"begin",     "start",   "commit",  "end",     "rollback", "abort",
                                                       "savepoint", "release", "prepare", "discard", "set",      "reset"};
  auto const word = first_word(statement);
  if (std::find(forbidden.begin(), forbidden.end(), word) == forbidden.end()) return {};
  return error{errc::bad_data, "'" + word + "' is not allowed here: the statement runs inside a transaction that is Atone's"};
}

result<numbered_statement> number_parameters(std::string_view statement) {
  if (first_word(statement).empty()) return error{errc::bad_data, "the statement is empty; expected one SQL statement"};
  if (auto fine = check_no_transaction_control(statement); !fine) return fine.error();
  return scanner{statement}.run();
}

}  // namespace atone::postgres
