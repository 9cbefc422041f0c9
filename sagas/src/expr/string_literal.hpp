// String literals: '…' "…" '''…''' """…""", each also raw with r in front.
#pragma once

#include <string>
#include <string_view>

#include <atone/expression.hpp>

namespace atone::expr {

struct string_literal {
  std::string content;  // UTF-8
  std::size_t end = 0;  // behind the closing quotes
};

// `quote` is where the opening quotes begin (behind an r).
result<string_literal, mistake> read_string_literal(std::string_view text, std::size_t quote, bool raw);

}  // namespace atone::expr
