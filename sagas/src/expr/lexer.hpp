// Text -> tokens, as the CEL language definition has them, without bytes literals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <atone/expression.hpp>

namespace atone::expr {

enum class token_kind : std::uint8_t { end, identifier, integer, unsigned_integer, floating, string, symbol };

struct token {
  token_kind kind = token_kind::end;
  std::size_t offset = 0;
  std::size_t length = 0;
  std::string text;         // identifier or symbol; a string's decoded content
  std::uint64_t whole = 0;  // an integer without its sign
  double real = 0;

  bool is(std::string_view wanted) const { return kind == token_kind::symbol && text == wanted; }
  bool is_word(std::string_view wanted) const { return kind == token_kind::identifier && text == wanted; }
  // For "found …" in messages.
  std::string shown(std::string_view source) const;
};

// Ends with a token of kind `end`.
result<std::vector<token>, mistake> tokenize(std::string_view text);

}  // namespace atone::expr
