// What a parsed expression is made of. The parser builds it, the checker fills in the marked fields once; then it is immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datum.hpp"

namespace atone::expr {

class pattern;
struct function_entry;

inline constexpr std::size_t text_bytes_max = 4096;
inline constexpr std::size_t nesting_max = 64;  // brackets and conditionals inside each other
inline constexpr std::size_t height_max = 256;  // of the tree: also long chains of operators

enum class node_kind : std::uint8_t {
  literal,
  name,
  select,       // [of].text
  has,          // has([of].text)
  index,        // [of][[key]]
  negate,       // -[a]
  logical_not,  // ![a]
  binary,       // [a] op [b]
  all_of,       // [a] && [b] && …
  any_of,       // [a] || [b] || …
  conditional,  // [test] ? [then] : [else]
  call,         // text([a], …), or [a].text(…) where `member`
  list,
  map,    // [key], [value], [key], [value] …
  macro,  // [range].all(text, [test]) …; map with a filter has [range], [test], [result]
};

enum class binary_kind : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  remainder,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
};

enum class macro_kind : std::uint8_t { all, exists, exists_one, filter, map };

struct expression;
using expression_ptr = std::unique_ptr<expression>;

struct expression {
  node_kind kind = node_kind::literal;
  binary_kind op = binary_kind::add;
  macro_kind macro = macro_kind::all;
  bool member = false;
  std::size_t begin = 0;   // where the expression begins
  std::size_t offset = 0;  // what a message points at: the operator, field, function …
  std::size_t length = 0;
  std::size_t height = 1;
  std::string text;  // name, field, function, or the variable of a macro
  datum literal;
  std::vector<expression_ptr> children;

  // Set by the checker.
  bool local = false;  // a name bound by a macro
  number_hint hint = number_hint::by_text;
  function_entry const* function = nullptr;
  std::shared_ptr<pattern const> regex;  // of a constant one

  expression() = default;
};

struct syntax_tree {
  expression_ptr root;
};

std::string_view symbol(binary_kind op) noexcept;  // "+", "in" …

}  // namespace atone::expr
