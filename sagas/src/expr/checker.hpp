// Static types: finds what can be known to be wrong before anything runs, and prepares calls. What is dynamic stays dynamic.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "functions.hpp"

namespace atone::expr {

class checker {
 public:
  explicit checker(declarations const& names) : names_(names) {}

  // Fills in the marked fields of the tree.
  result<type, mistake> check(expression& of);

 private:
  using checked = result<type, mistake>;

  checked name(expression& of);
  checked field_of(expression const& of, type const& from, std::string_view field);
  checked index(expression& of);
  checked logical(expression& of);
  checked conditional(expression& of);
  checked binary(expression& of);
  checked negate(expression& of);
  checked call(expression& of);
  checked resolve(expression& of);
  checked constant_pattern(expression& of);
  checked list(expression& of);
  checked map(expression& of);
  checked macro(expression& of);
  std::optional<mistake> must_be_boolean(expression& of);

  declarations const& names_;
  std::vector<std::pair<std::string_view, type>> locals_;
};

// checker_operators.cpp: the type of `left op right`, or why there is none.
result<type, std::string> binary_type(binary_kind op, type const& left, type const& right);
// One type for either of two: theirs when they agree, else dynamic.
type common(type const& left, type const& right);

}  // namespace atone::expr
