#include "spec/windows.hpp"

#include <algorithm>
#include <array>

#include <atone/yaml/fields.hpp>

#include "spec/keys.hpp"

namespace atone::features {
namespace {

using namespace yaml;

constexpr std::size_t name_size_max = 64;
constexpr std::array<std::string_view, 1> since_words{"epoch"};

// As other names, but a digit may stand first: 7d.
bool is_window_name(std::string_view text) {
  auto const fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return !text.empty() && text.size() <= name_size_max && text[0] != '-' && text[0] != '_' && std::all_of(text.begin(), text.end(), fits);
}

window_spec read_one(spot const& at, std::string const& called, report& out) {
  window_spec made;
  made.name = called;
  if (!expect_map(at, "a map with one of `last`, `rows`, `since`", out)) return made;
  auto const before = out.mistakes();
  check_keys(at, window_keys, out);
  if (out.mistakes() != before) return made;
  auto const last = field(at, "last");
  auto const rows = field(at, "rows");
  auto const since = field(at, "since");
  if (int{last.has_value()} + int{rows.has_value()} + int{since.has_value()} != 1) {
    out.mistake(at, "expected exactly one of `last`, `rows`, `since`", "as in {last: 7d}, {rows: 10} or {since: epoch}");
    return made;
  }
  if (last) {
    made.kind = window_kind::last;
    made.length = read_duration(*last, out).value_or(duration{1});
  } else if (rows) {
    made.kind = window_kind::rows;
    made.rows = read_integer(*rows, 1, feature_limits::window_rows_max, out).value_or(1);
  } else {
    read_word(*since, since_words, out);
  }
  return made;
}

}  // namespace

void read_windows(spot const& root, feature_set& into, report& out) {
  auto const at = required_field(root, "windows", "as in `7d: {last: 7d}`", out);
  if (!at || !expect_map(*at, "a map from window to what it holds", out)) return;
  if (at->at->entries.empty()) return out.mistake(*at, "found no window; expected at least one, as in `7d: {last: 7d}`");
  if (at->at->entries.size() > feature_limits::windows_max) {
    return out.mistake(*at, "there are " + std::to_string(at->at->entries.size()) + " windows; the most is " +
                                std::to_string(feature_limits::windows_max));
  }
  for (auto const& member : at->at->entries) {
    auto const here = at->child(member.key.text, member.value);
    if (!is_window_name(member.key.text)) {
      out.mistake(member.key.at, here.path,
                  "found " + describe(member.key) + "; expected the name of a window: lower-case letters, digits, '-', '_'");
    }
    into.windows.push_back(read_one(here, member.key.text, out));
  }
}

std::optional<std::uint32_t> read_window(spot const& at, feature_set const& of, report& out) {
  std::vector<std::string_view> known;
  for (auto const& window : of.windows) known.push_back(window.name);
  if (known.empty()) return std::nullopt;  // told already
  auto const found = read_word(at, known, out);
  if (!found) return std::nullopt;
  return static_cast<std::uint32_t>(*found);
}

}  // namespace atone::features
