// SQL texts: read, and searched for the names they take.
#include <algorithm>
#include <cctype>

#include <atone/yaml/fields.hpp>
#include <atone/yaml/scalars.hpp>

#include "yaml/targets.hpp"

namespace atone::yaml {
namespace {

constexpr std::size_t statement_size_max = 64 * 1024;

bool is_word_character(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::size_t after(std::string_view text, std::string_view closing, std::size_t from) {
  auto const found = text.find(closing, from);
  return found == std::string_view::npos ? text.size() : found + closing.size();
}

// Past the text or comment that begins at `at`, or `at` itself when none does.
std::size_t skip_quoted(std::string_view text, std::size_t at) {
  if (text[at] == '\'' || text[at] == '"') return after(text, text.substr(at, 1), at + 1);
  if (text.substr(at, 2) == "--") return after(text, "\n", at);
  if (text.substr(at, 2) == "/*") return after(text, "*/", at + 2);
  if (text[at] != '$') return at;
  auto end = at + 1;
  while (end < text.size() && is_word_character(text[end])) ++end;
  auto const tag = text.substr(at, end + 1 - at);
  return end < text.size() && text[end] == '$' ? after(text, tag, end + 1) : at;
}

}  // namespace

std::vector<std::string> sql_names(std::string_view statement) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < statement.size();) {
    if (auto const end = skip_quoted(statement, at); end != at) {
      at = end;
      continue;
    }
    if (statement.substr(at, 2) == "::") {
      at += 2;
      continue;
    }
    auto end = at + 1;
    if (statement[at] == ':') {
      while (end < statement.size() && is_word_character(statement[end])) ++end;
      std::string name{statement.substr(at + 1, end - at - 1)};
      auto const first = name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0;
      if (!first && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
    }
    at = end;
  }
  return out;
}

std::optional<target> read_sql(spot const& at, report& out) {
  auto const text = read_text(at, "one SQL statement", out);
  if (!text) return std::nullopt;
  if (text->size() > statement_size_max || text->find_first_not_of(" \t\r\n") == std::string::npos) {
    out.mistake(at, text->size() > statement_size_max ? "the statement is longer than " + std::to_string(statement_size_max) + " bytes"
                                                      : "the statement is empty; expected one SQL statement");
    return std::nullopt;
  }
  sql_target made;
  made.text = *text;
  return target{std::move(made)};
}

}  // namespace atone::yaml
