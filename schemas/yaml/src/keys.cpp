#include <atone/yaml/keys.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace atone::yaml {
namespace {

using names = std::string_view;

bool holds(std::span<names const> list_of, names key) noexcept {
  return std::find(list_of.begin(), list_of.end(), key) != list_of.end();
}

// Optimal string alignment: insert, delete, replace, swap neighbours.
std::size_t distance(names left, names right) {
  std::vector<std::vector<std::size_t>> cost(left.size() + 1, std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = 0; i <= left.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= right.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    for (std::size_t j = 1; j <= right.size(); ++j) {
      auto const changed = left[i - 1] == right[j - 1] ? 0U : 1U;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + changed});
      auto const swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[left.size()][right.size()];
}

constexpr std::size_t compared_size_max = 64;  // longer texts are nobody's typing mistake

}  // namespace

bool key_table::knows(names key) const noexcept {
  return holds(now, key);
}
bool key_table::waits(names key) const noexcept {
  return holds(later, key);
}
names key_table::home_of(names key) const noexcept {
  auto const found = std::find_if(homes.begin(), homes.end(), [&](key_home const& known) { return known.key == key; });
  return found == homes.end() ? names{} : found->place;
}

names nearest(names key, std::span<names const> known) {
  if (key.empty() || key.size() > compared_size_max) return {};
  names best;
  auto best_distance = std::min<std::size_t>(3, (key.size() + 2) / 3) + 1;
  for (auto const candidate : known) {
    if (candidate.size() > compared_size_max) continue;
    auto const far = distance(key, candidate);
    if (far >= best_distance) continue;
    best = candidate;
    best_distance = far;
  }
  return best;
}

}  // namespace atone::yaml
