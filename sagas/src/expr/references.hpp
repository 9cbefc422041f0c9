// Which declared names a checked tree reads, how far down, and under which has().
#pragma once

#include <vector>

#include "tree.hpp"

namespace atone::expr {

std::vector<reference> collect_references(expression const& root);

}  // namespace atone::expr
