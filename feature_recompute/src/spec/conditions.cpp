#include "spec/conditions.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <atone/yaml/fields.hpp>
#include <atone/yaml/scalars.hpp>

#include "spec/columns.hpp"
#include "spec/keys.hpp"
#include "spec/values.hpp"

namespace atone::features {
namespace {

using namespace yaml;

constexpr std::array any_type{column_type::integer, column_type::decimal, column_type::text, column_type::timestamp};
constexpr std::array category_types{column_type::integer, column_type::text};
using limits = std::numeric_limits<std::int64_t>;

std::optional<std::int64_t> read_time(spot const& at, report& out) {
  auto const text = read_text(at, "a time as 2026-11-30T13:37:00Z", out);
  if (!text) return std::nullopt;
  if (auto const read = parse_timestamp(*text)) return read->time_since_epoch().count();
  out.mistake(at, "found " + describe(*at) + "; expected a time as 2026-11-30T13:37:00Z");
  return std::nullopt;
}

// One value of a column that is no text.
std::optional<std::int64_t> read_number(spot const& at, column_spec const& column, report& out) {
  if (column.type == column_type::timestamp) return read_time(at, out);
  if (column.type == column_type::integer) return read_integer(at, limits::min(), limits::max(), out);
  if (at->is_plain() && is_json_number(at->text)) {
    if (auto const scaled = parse_scaled(at->text, column.scale)) return scaled;
  }
  out.mistake(at, "found " + describe(*at) + "; expected a decimal number with at most " + std::to_string(column.scale) +
                      " places, as column `" + column.name + "` has them");
  return std::nullopt;
}

void check_values(spot const& at, std::size_t size, std::size_t different, report& out) {
  if (size == 0) out.mistake(at, "the list is empty; expected at least one value");
  if (size > feature_limits::condition_values_max) {
    out.mistake(at, "there are " + std::to_string(size) + " values; the most is " + std::to_string(feature_limits::condition_values_max));
  }
  if (different < size) out.mistake(at, "a value stands twice in the list");
}

template <class T>
std::size_t sort_and_unite(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values.size();
}

// Values in the order of the text.
template <class T, class Read>
std::vector<T> read_list(spot const& at, report& out, Read const& read) {
  std::vector<T> values;
  for (std::size_t i = 0; i < at->items.size(); ++i) {
    if (auto value = read(at.item(i))) values.push_back(std::move(*value));
  }
  auto sorted = values;
  check_values(at, values.size(), sort_and_unite(sorted), out);
  return values;
}

void read_one_of(spot const& at, column_spec const& column, std::vector<std::int64_t>& numbers, std::vector<std::string>& words,
                 report& out) {
  if (column.type == column_type::text) {
    words = read_list<std::string>(at, out, [&](spot const& one) { return read_text(one, "a text", out); });
  } else {
    numbers = read_list<std::int64_t>(at, out, [&](spot const& one) { return read_number(one, column, out); });
  }
}

void read_bounds(spot const& at, column_spec const& column, condition& into, report& out) {
  check_keys(at, condition_keys, out);
  if (column.type == column_type::text) return out.mistake(at, "column `" + column.name + "` is text; expected a text or a list of texts");
  auto const bound = [&](std::string_view key, std::int64_t otherwise) {
    auto const value = field(at, key);
    return value ? read_number(*value, column, out).value_or(otherwise) : otherwise;
  };
  into.is_range = true;
  into.least = bound("at_least", limits::min());
  into.most = bound("at_most", limits::max());
  // Strict bounds are the next integer: every value is one.
  if (field(at, "above")) {
    auto const above = bound("above", limits::min());
    if (above == limits::max()) return out.mistake(at, "no value is above the largest");
    into.least = std::max(into.least, above + 1);
  }
  if (field(at, "below")) {
    auto const below = bound("below", limits::max());
    if (below == limits::min()) return out.mistake(at, "no value is below the smallest");
    into.most = std::min(into.most, below - 1);
  }
  if (at->entries.empty()) out.mistake(at, "expected at least one of at_least, above, at_most, below");
  if (into.least > into.most) out.mistake(at, "nothing can satisfy these bounds");
}

condition read_condition(spot const& at, std::uint32_t column, feature_set const& of, report& out) {
  condition made;
  made.column = column;
  auto const& about = of.columns[column];
  if (at->is_map()) {
    read_bounds(at, about, made, out);
  } else if (at->is_sequence()) {
    read_one_of(at, about, made.numbers, made.words, out);
  } else if (about.type == column_type::text) {
    if (auto word = read_text(at, "a text, or a list of texts", out)) made.words.push_back(std::move(*word));
  } else if (auto const number = read_number(at, about, out)) {
    made.numbers.push_back(*number);
  }
  sort_and_unite(made.numbers);
  sort_and_unite(made.words);
  return made;
}

// The key of a `where` or `per` as a column.
std::optional<std::uint32_t> column_of(spot const& at, entry const& member, std::span<column_type const> types, feature_set const& of,
                                       report& out) {
  return read_column(spot{member.key, child_path(at.path, member.key.text)}, types, of, out);
}

}  // namespace

std::vector<condition> read_where(spot const& at, feature_set const& of, report& out) {
  std::vector<condition> all;
  if (!expect_map(at, "a map from column to value, list of values or bounds", out)) return all;
  if (at->entries.empty()) out.mistake(at, "expected at least one condition");
  for (auto const& member : at->entries) {
    auto const column = column_of(at, member, any_type, of, out);
    if (column) all.push_back(read_condition(at.child(member.key.text, member.value), *column, of, out));
  }
  // Conditions are met together, so their order says nothing.
  std::sort(all.begin(), all.end(), [](condition const& left, condition const& right) { return left.column < right.column; });
  return all;
}

void read_per(spot const& at, feature_set const& of, feature_spec& into, report& out) {
  if (!expect_map(at, "a map with one column and its categories, as in {product: [a, b]}", out)) return;
  if (at->entries.size() != 1) return out.mistake(at, "expected exactly one column");
  auto const& member = at->entries[0];
  into.per = column_of(at, member, category_types, of, out);
  auto const list = at.child(member.key.text, member.value);
  if (!into.per || !expect_list(list, "a list of categories", out)) return;
  read_one_of(list, of.columns[*into.per], into.categories, into.words, out);
}

}  // namespace atone::features
