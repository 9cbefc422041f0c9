// Tokens -> tree, by recursive descent with bounds on nesting and on the height of the tree.
#pragma once

#include <string_view>

#include <atone/expression.hpp>

#include "tree.hpp"

namespace atone::expr {

result<expression_ptr, mistake> parse_expression(std::string_view text);

}  // namespace atone::expr
