#include "spec/columns.hpp"

#include <algorithm>
#include <array>

#include <atone/yaml/fields.hpp>

#include "spec/keys.hpp"

namespace atone::features {
namespace {

using namespace yaml;

constexpr std::array<std::string_view, 4> type_words{"integer", "decimal", "text", "timestamp"};
constexpr std::array<std::string_view, 2> null_words{"skip", "refuse"};
constexpr std::array<std::string_view, 3> late_words{"take", "set_aside", "refuse"};
constexpr std::array keys{column_type::integer, column_type::text};
constexpr std::array times{column_type::timestamp};

std::string list_of(std::span<column_type const> types) {
  std::string text;
  for (auto const type : types) text += (text.empty() ? "" : " or ") + std::string{name(type)};
  return text;
}

// `amount: {type: decimal, scale: 2, nulls: refuse}`
void read_long_form(spot const& at, column_spec& into, report& out) {
  check_keys(at, column_keys, out);
  if (auto const type = required_field(at, "type", "integer, decimal, text or timestamp", out)) {
    into.type = static_cast<column_type>(read_word(*type, type_words, out).value_or(0));
  }
  if (auto const nulls = field(at, "nulls")) into.nulls = static_cast<null_rule>(read_word(*nulls, null_words, out).value_or(0));
  auto const scale = field(at, "scale");
  if (scale && into.type != column_type::decimal) return out.mistake(*scale, "`scale` stands in a column that is no decimal");
  if (scale) into.scale = static_cast<int>(read_integer(*scale, 0, feature_limits::scale_max, out).value_or(0));
  if (!scale && into.type == column_type::decimal) {
    out.mistake(at, "`scale` is missing", "how many decimal places there are: {type: decimal, scale: 2}");
  }
}

column_spec read_one(spot const& at, std::string const& called, report& out) {
  column_spec made;
  made.name = called;
  if (at->is_map()) {
    read_long_form(at, made, out);
  } else if (auto const type = read_word(at, type_words, out)) {
    made.type = static_cast<column_type>(*type);
    if (made.type == column_type::decimal) {
      out.mistake(at, "a decimal column needs its scale", "how many decimal places there are: {type: decimal, scale: 2}");
    }
  }
  return made;
}

std::uint32_t read_part(spot const& root, std::string_view key, std::span<column_type const> types, feature_set const& of, report& out) {
  auto const at = required_field(root, key, "the column that has it", out);
  return at ? read_column(*at, types, of, out).value_or(0) : 0;
}

void check_apart(spot const& root, feature_set const& of, report& out) {
  std::vector<std::pair<std::string_view, std::uint32_t>> parts{
      {"entity", of.entity}, {"event_id", of.event_id}, {"event_time", of.event_time}};
  if (of.known_at) parts.emplace_back("known_at", *of.known_at);
  for (std::size_t at = 1; at < parts.size(); ++at) {
    for (std::size_t before = 0; before < at; ++before) {
      if (parts[at].second != parts[before].second) continue;
      out.mistake(*field(root, parts[at].first), "column `" + of.columns[parts[at].second].name + "` is `" +
                                                     std::string{parts[before].first} + "` already; expected another one");
    }
  }
}

}  // namespace

std::string_view name(column_type of) noexcept {
  return type_words[static_cast<std::size_t>(of)];
}

std::optional<std::uint32_t> feature_set::find_column(std::string_view wanted) const noexcept {
  auto const found = std::find_if(columns.begin(), columns.end(), [&](auto const& one) { return one.name == wanted; });
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - columns.begin());
}

void read_columns(spot const& root, feature_set& into, report& out) {
  auto const at = required_field(root, "columns", "the columns of the events, as in `amount: {type: decimal, scale: 2}`", out);
  if (!at || !expect_map(*at, "a map from column to type", out)) return;
  if (at->at->entries.size() > feature_limits::columns_max) {
    return out.mistake(*at, "there are " + std::to_string(at->at->entries.size()) + " columns; the most is " +
                                std::to_string(feature_limits::columns_max));
  }
  for (auto const& member : at->at->entries) {
    spot const key{member.key, child_path(at->path, member.key.text)};
    read_name(key, "the name of a column", true, out);
    into.columns.push_back(read_one(at->child(member.key.text, member.value), member.key.text, out));
  }
}

std::optional<std::uint32_t> read_column(spot const& at, std::span<column_type const> types, feature_set const& of, report& out) {
  auto const called = read_name(at, "the name of a column", true, out);
  if (!called) return std::nullopt;
  auto const found = of.find_column(*called);
  if (!found) {
    std::vector<std::string_view> known;
    for (auto const& column : of.columns) known.push_back(column.name);
    auto const near = nearest(*called, known);
    out.mistake(at, "there is no column `" + *called + "`" + (near.empty() ? "" : "; did you mean `" + std::string{near} + "`?"),
                near.empty() ? "columns are told under `columns`" : "");
    return std::nullopt;
  }
  auto const type = of.columns[*found].type;
  if (std::find(types.begin(), types.end(), type) != types.end()) return found;
  out.mistake(at, "column `" + *called + "` is " + std::string{name(type)} + "; expected " + list_of(types));
  return std::nullopt;
}

void read_parts(spot const& root, feature_set& into, report& out) {
  auto const before = out.mistakes();
  into.entity = read_part(root, "entity", keys, into, out);
  into.event_id = read_part(root, "event_id", keys, into, out);
  into.event_time = read_part(root, "event_time", times, into, out);
  if (auto const at = field(root, "known_at")) into.known_at = read_column(*at, times, into, out);
  if (out.mistakes() == before) check_apart(root, into, out);
}

void read_late(spot const& root, feature_set& into, report& out) {
  auto const at = field(root, "late");
  if (!at || !expect_map(*at, "a map with `after` and `then`", out)) return;
  check_keys(*at, late_keys, out);
  if (!field(root, "known_at")) out.mistake(*at, "`late` needs `known_at`: without it every event is known when it happened");
  if (auto const after = required_field(*at, "after", "a duration: how much later an event may become known", out)) {
    into.late_after = read_duration(*after, out).value_or(duration{0});
  }
  if (auto const then = required_field(*at, "then", "take, set_aside or refuse", out)) {
    into.late = static_cast<late_rule>(read_word(*then, late_words, out).value_or(0));
  }
}

}  // namespace atone::features
