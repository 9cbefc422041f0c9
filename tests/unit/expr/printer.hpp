// A tree back to text, with no more brackets than needed: so that re-parsing it tests precedence and associativity.
#pragma once

#include <string>

#include "expr/tree.hpp"

namespace atone::expr {

std::string print(expression const& of);

}  // namespace atone::expr
