#include <algorithm>
#include <numeric>

#include "schema.hpp"

namespace atone::schema_detail {
namespace {

constexpr std::size_t shown_bytes_max = 60;

// Number of insertions, deletions and changes between two words.
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t at = 1; at <= left.size(); ++at) {
    std::size_t diagonal = row[0];
    row[0] = at;
    for (std::size_t across = 1; across <= right.size(); ++across) {
      std::size_t const changed = diagonal + (left[at - 1] == right[across - 1] ? 0 : 1);
      diagonal = row[across];
      row[across] = std::min({row[across] + 1, row[across - 1] + 1, changed});
    }
  }
  return row.back();
}

}  // namespace

std::string cut(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string{text};
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string{text.substr(0, end)} + "…";
}

std::string pointer_step(std::string_view key) {
  std::string out = "/";
  for (char const letter : key) {
    if (letter == '~') {
      out += "~0";
    } else if (letter == '/') {
      out += "~1";
    } else {
      out += letter;
    }
  }
  return out;
}

std::string describe(json::value const& of) {
  if (of.is_null()) return "null";
  return std::string{json::name(of.type())} + ' ' + cut(of.raw(), shown_bytes_max);
}

std::string quoted(std::string_view text) {
  std::string out;
  json::append_string(out, cut(text, shown_bytes_max));
  return out;
}

std::optional<std::string> nearest(std::string_view text, std::vector<std::string> const& candidates) {
  constexpr std::size_t compared_bytes_max = 64;
  if (text.size() > compared_bytes_max) return std::nullopt;
  std::optional<std::string> found;
  std::size_t best = std::max<std::size_t>(1, std::min<std::size_t>(3, text.size() / 2)) + 1;
  for (auto const& candidate : candidates) {
    if (candidate.size() > compared_bytes_max) continue;
    auto const away = distance(text, candidate);
    if (away >= best) continue;
    best = away;
    found = candidate;
  }
  return found;
}

}  // namespace atone::schema_detail
