#include "suggestion.hpp"

#include <algorithm>
#include <optional>

namespace atone::expr {
namespace {

constexpr std::size_t word_bytes_max = 64;  // longer ones are not compared

}  // namespace

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::vector<std::size_t>> cost(left.size() + 1, std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = 0; i <= left.size(); ++i) {
    for (std::size_t j = 0; j <= right.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      std::size_t const replaced = cost[i - 1][j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      bool const swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[left.size()][right.size()];
}

std::string did_you_mean(std::string_view wrong, std::vector<std::string_view> const& known) {
  std::optional<std::string_view> nearest;
  std::size_t best = std::max<std::size_t>(1, wrong.size() / 3) + 1;
  for (auto const word : known) {
    if (word.size() > word_bytes_max || wrong.size() > word_bytes_max) continue;
    auto const distance = edit_distance(wrong, word);
    if (distance >= best) continue;
    best = distance;
    nearest = word;
  }
  return nearest ? "; did you mean '" + std::string{*nearest} + "'?" : "";
}

}  // namespace atone::expr
