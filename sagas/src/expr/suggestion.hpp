// The known word nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace atone::expr {

// "; did you mean 'input'?", or nothing when no known word is near.
std::string did_you_mean(std::string_view wrong, std::vector<std::string_view> const& known);

// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
std::size_t edit_distance(std::string_view left, std::string_view right);

}  // namespace atone::expr
