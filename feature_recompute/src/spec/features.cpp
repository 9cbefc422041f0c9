#include "spec/features.hpp"

#include <algorithm>
#include <array>

#include <atone/yaml/fields.hpp>

#include "spec/columns.hpp"
#include "spec/conditions.hpp"
#include "spec/keys.hpp"
#include "spec/windows.hpp"

namespace atone::features {
namespace {

using namespace yaml;

constexpr std::array numeric{column_type::integer, column_type::decimal};
constexpr std::array ordered{column_type::integer, column_type::decimal, column_type::timestamp};
constexpr std::array any_type{column_type::integer, column_type::decimal, column_type::text, column_type::timestamp};
constexpr std::array<std::string_view, 1> events_word{"events"};
constexpr std::array<std::string_view, 2> interval_words{"mean", "min"};
constexpr std::array<std::string_view, 2> estimate_words{"sample", "population"};

// What a kind of feature is made from: events, a column, either; how its key is written.
struct kind {
  std::string_view key;
  aggregation what;
  enum class source : std::uint8_t { events, column, either, interval, ratio } from;
  std::span<column_type const> types;
};
using source = kind::source;
constexpr std::array kinds{kind{"count", aggregation::count, source::either, any_type},
                           kind{"sum", aggregation::sum, source::column, numeric},
                           kind{"mean", aggregation::mean, source::column, numeric},
                           kind{"min", aggregation::min, source::column, ordered},
                           kind{"max", aggregation::max, source::column, ordered},
                           kind{"variance", aggregation::variance, source::column, numeric},
                           kind{"deviation", aggregation::deviation, source::column, numeric},
                           kind{"distinct", aggregation::distinct, source::column, any_type},
                           kind{"first", aggregation::first, source::column, any_type},
                           kind{"last", aggregation::last, source::column, any_type},
                           kind{"last_values", aggregation::last_values, source::column, any_type},
                           kind{"recency", aggregation::recency, source::events, {}},
                           kind{"interval", aggregation::interval_mean, source::interval, {}},
                           kind{"decayed_count", aggregation::decayed_count, source::events, {}},
                           kind{"decayed_sum", aggregation::decayed_sum, source::column, numeric},
                           kind{"ratio", aggregation::ratio, source::ratio, {}}};

std::string kind_words() {
  std::string text;
  for (auto const& one : kinds) text += (text.empty() ? "" : ", ") + std::string{one.key};
  return text;
}

bool can_be_divided(aggregation what) {
  return what == aggregation::count || what == aggregation::sum || what == aggregation::distinct;
}

// A ratio's feature stands before it, so that there is no circle.
void read_ratio(spot const& at, feature_set const& of, feature_spec& into, report& out) {
  std::vector<std::string_view> known;
  for (auto const& one : of.features) known.push_back(one.name);
  if (known.empty()) return out.mistake(at, "no feature stands before this one; expected the name of one that does");
  auto const found = read_word(at, known, out);
  if (!found) return;
  into.of = static_cast<std::uint32_t>(*found);
  auto const& upper = of.features[into.of];
  if (!can_be_divided(upper.what)) {
    out.mistake(at, "feature `" + upper.name + "` is a " + std::string{name(upper.what)} + "; expected a count, a sum or a distinct");
  }
  if (upper.per) out.mistake(at, "feature `" + upper.name + "` has categories; expected one without `per`");
}

void read_source(spot const& at, kind const& of, feature_set const& set, feature_spec& into, report& out) {
  into.what = of.what;
  switch (of.from) {
    case source::events: read_word(at, events_word, out); return;
    case source::column: into.column = read_column(at, of.types, set, out); return;
    case source::either:
      if (!at->is_scalar() || at->text != "events") into.column = read_column(at, of.types, set, out);
      return;
    case source::interval:
      if (read_word(at, interval_words, out) == std::size_t{1}) into.what = aggregation::interval_min;
      return;
    case source::ratio: read_ratio(at, set, into, out); return;
  }
}

std::vector<std::uint32_t> read_window_list(spot const& at, feature_set const& of, report& out) {
  std::vector<std::uint32_t> all;
  if (!expect_list(at, "a list of windows", out)) return all;
  if (at->items.empty()) out.mistake(at, "the list is empty; expected at least one window");
  for (std::size_t i = 0; i < at->items.size(); ++i) {
    auto const window = read_window(at.item(i), of, out);
    if (!window) continue;
    if (std::find(all.begin(), all.end(), *window) != all.end())
      out.mistake(at.item(i), "window " + describe(*at.item(i)) + " stands twice");
    all.push_back(*window);
  }
  return all;
}

void read_between(spot const& at, feature_set const& of, feature_spec& into, report& out) {
  into.windows = read_window_list(at, of, out);
  if (into.windows.size() != 2) {
    if (at->is_sequence() && at->items.size() != 2) out.mistake(at, "expected two windows: the upper one and the lower one");
    into.windows.clear();
    return;
  }
  auto const& upper = of.features[into.of];
  for (std::size_t i = 0; i < 2; ++i) {
    auto const window = into.windows[i];
    if (std::find(upper.windows.begin(), upper.windows.end(), window) == upper.windows.end()) {
      out.mistake(at.item(i), "feature `" + upper.name + "` is not over window `" + of.windows[window].name + "`");
    }
  }
}

// Keys that only some kinds have: told when they stand elsewhere.
void refuse_key(spot const& at, std::string_view key, std::string_view kinds_that_have_it, report& out) {
  if (auto const stray = field(at, key)) {
    out.mistake(*stray, "`" + std::string{key} + "` has no meaning here; it belongs to " + std::string{kinds_that_have_it});
  }
}

void read_options(spot const& at, feature_spec& into, report& out) {
  auto const is = [&](aggregation one) { return into.what == one; };
  if (is(aggregation::last_values)) {
    auto const keep = required_field(at, "keep", "how many values, as in `keep: 5`", out);
    if (keep) into.keep = read_integer(*keep, 1, feature_limits::keep_max, out).value_or(1);
  } else {
    refuse_key(at, "keep", "last_values", out);
  }
  if (is(aggregation::decayed_count) || is(aggregation::decayed_sum)) {
    auto const half_life = required_field(at, "half_life", "after how long an event counts half, as in `half_life: 30d`", out);
    if (half_life) into.half_life = read_duration(*half_life, out).value_or(duration{1});
  } else {
    refuse_key(at, "half_life", "decayed_count and decayed_sum", out);
  }
  if (is(aggregation::variance) || is(aggregation::deviation)) {
    auto const estimate = field(at, "estimate");
    into.sample = !estimate || read_word(*estimate, estimate_words, out) != std::size_t{1};
  } else {
    refuse_key(at, "estimate", "variance and deviation", out);
  }
}

// `divided`: of a ratio, its feature is known.
void read_ranges(spot const& at, feature_set const& of, feature_spec& into, bool divided, report& out) {
  if (into.what == aggregation::ratio) {
    for (auto const* key : {"over", "where", "per"}) refuse_key(at, key, "the feature that is divided", out);
    auto const between = required_field(at, "between", "the two windows, as in `between: [7d, 30d]`", out);
    if (between && divided) read_between(*between, of, into, out);
    return;
  }
  refuse_key(at, "between", "ratio", out);
  if (auto const over = required_field(at, "over", "the windows, as in `over: [7d, 30d]`", out))
    into.windows = read_window_list(*over, of, out);
  if (auto const where = field(at, "where")) into.where = read_where(*where, of, out);
  if (auto const per = field(at, "per")) read_per(*per, of, into, out);
}

// The one kind that the map has; reports none, and more than one.
kind const* kind_of(spot const& at, report& out) {
  kind const* found = nullptr;
  for (auto const& one : kinds) {
    if (!field(at, one.key)) continue;
    if (found != nullptr) {
      out.mistake(*field(at, one.key), "`" + std::string{found->key} + "` stands here already; expected one kind a feature");
    } else {
      found = &one;
    }
  }
  if (found == nullptr) out.mistake(at, "it is not said what is computed", "one of " + kind_words());
  return found;
}

feature_spec read_one(spot const& at, std::string const& called, feature_set const& of, report& out) {
  feature_spec made;
  made.name = called;
  if (!expect_map(at, "a map, as in {sum: amount, over: [7d, 30d]}", out)) return made;
  auto const before = out.mistakes();
  check_keys(at, feature_keys, out);
  bool const unknown_key = out.mistakes() != before;
  // A mistyped kind has been told as an unknown key.
  auto const* found =
      unknown_key && std::none_of(kinds.begin(), kinds.end(), [&](kind const& one) { return field(at, one.key).has_value(); })
          ? nullptr
          : kind_of(at, out);
  if (found == nullptr) return made;
  auto const mistakes = out.mistakes();
  read_source(*field(at, found->key), *found, of, made, out);
  bool const source_is_known = out.mistakes() == mistakes;
  read_options(at, made, out);
  read_ranges(at, of, made, source_is_known, out);
  return made;
}

std::size_t outputs_of(feature_spec const& one) {
  if (one.what == aggregation::ratio) return 1;
  return one.windows.size() * (one.per ? one.categories.size() + one.words.size() : 1);
}

void check_filters(spot const& at, feature_set const& of, report& out) {
  std::size_t filters = 0;
  std::vector<std::vector<condition>> seen;
  for (auto const& one : of.features) {
    if (one.per) {
      filters += one.categories.size() + one.words.size();
    } else if (!one.where.empty() && std::find(seen.begin(), seen.end(), one.where) == seen.end()) {
      seen.push_back(one.where);
    }
  }
  filters += seen.size();
  if (filters > feature_limits::filters_max) {
    out.mistake(at, "there are " + std::to_string(filters) + " filters (different `where`, and categories of `per`); the most is " +
                        std::to_string(feature_limits::filters_max));
  }
}

// Once all else is right: the entity is the same in all rows that are looked at together.
void check_entity(spot const& at, feature_set const& of, report& out) {
  for (std::size_t i = 0; i < of.features.size(); ++i) {
    auto const& one = of.features[i];
    auto const is_entity = [&](condition const& with) { return with.column == of.entity; };
    if (one.column != of.entity && one.per != of.entity && std::none_of(one.where.begin(), one.where.end(), is_entity)) continue;
    out.mistake(at.child(one.name, at->entries[i].value),
                "column `" + of.columns[of.entity].name + "` is the entity, the same in every event of one; expected another column");
  }
}

}  // namespace

std::string_view name(aggregation of) noexcept {
  if (of == aggregation::interval_min) return "interval";
  auto const found = std::find_if(kinds.begin(), kinds.end(), [&](kind const& one) { return one.what == of; });
  return found->key;
}

void read_features(spot const& root, feature_set& into, report& out) {
  auto const at = required_field(root, "features", "as in `spent: {sum: amount, over: [7d]}`", out);
  if (!at || !expect_map(*at, "a map from feature to what it is", out)) return;
  if (at->at->entries.empty()) out.mistake(*at, "expected at least one feature");
  if (at->at->entries.size() > feature_limits::features_max) {
    return out.mistake(*at, "there are " + std::to_string(at->at->entries.size()) + " features; the most is " +
                                std::to_string(feature_limits::features_max));
  }
  std::size_t outputs = 0;
  for (auto const& member : at->at->entries) {
    read_name(spot{member.key, child_path(at->path, member.key.text)}, "the name of a feature", true, out);
    into.features.push_back(read_one(at->child(member.key.text, member.value), member.key.text, into, out));
    outputs += outputs_of(into.features.back());
  }
  check_filters(*at, into, out);
  if (out.ok()) check_entity(*at, into, out);
  if (outputs > feature_limits::outputs_max) {
    out.mistake(*at, "there are " + std::to_string(outputs) + " outputs (features × windows × categories); the most is " +
                         std::to_string(feature_limits::outputs_max));
  }
}

}  // namespace atone::features
