// A schema as it is checked with: one `subschema` for each place a schema may stand at, references already followed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <atone/json.hpp>
#include <atone/json_schema.hpp>

#include "formats.hpp"
#include "number.hpp"
#include "pattern.hpp"

namespace atone::schema_detail {

// The words of `type`, as a set.
enum class type_bit : std::uint8_t { null = 1, boolean = 2, integer = 4, number = 8, string = 16, array = 32, object = 64 };
using type_set = std::uint8_t;  // 0: any
constexpr bool has(type_set set, type_bit bit) {
  return (set & static_cast<type_set>(bit)) != 0;
}

struct bound {
  exact_number value;
  std::string text;  // as written

  bound(exact_number number, std::string raw) : value(std::move(number)), text(std::move(raw)) {}
};

struct enumeration {
  std::set<std::string> canonical;  // of each value
  std::string shown;                // for messages
};

struct subschema;
using dependency = std::variant<std::vector<std::string>, subschema const*>;

// All keywords of one schema; what is absent is empty.
struct subschema {
  std::string at;              // JSON pointer into the document
  std::optional<bool> always;  // `true` and `false` as schemas
  subschema const* ref = nullptr;

  type_set types = 0;
  std::optional<enumeration> values;  // `enum`, and `const` as an enum of one

  std::optional<bound> minimum, maximum, exclusive_minimum, exclusive_maximum;
  std::optional<std::pair<divisor, std::string>> multiple_of;

  std::optional<std::size_t> min_length, max_length;
  std::optional<schema_detail::pattern> pattern;
  format_rule const* format = nullptr;

  std::optional<std::size_t> min_items, max_items;
  bool unique_items = false;
  subschema const* items = nullptr;             // for every element, or …
  std::vector<subschema const*> items_in_turn;  // … for the first, the second …
  bool has_items_in_turn = false;
  subschema const* additional_items = nullptr;
  subschema const* contains = nullptr;

  std::optional<std::size_t> min_properties, max_properties;
  std::vector<std::string> required;
  std::map<std::string, subschema const*, std::less<>> properties;
  std::vector<std::pair<schema_detail::pattern, subschema const*>> pattern_properties;
  subschema const* additional_properties = nullptr;
  subschema const* property_names = nullptr;
  std::map<std::string, dependency, std::less<>> dependencies;

  std::vector<subschema const*> all_of, any_of, one_of;
  subschema const* negated = nullptr;
  subschema const* condition = nullptr;  // `if`
  subschema const* then_branch = nullptr;
  subschema const* else_branch = nullptr;

  subschema() = default;
};

// Owns the subschemas; they point at each other.
struct compiled_schema {
  static constexpr std::size_t subschemas_max = 10'000;
  static constexpr std::size_t depth_max = 64;  // of schemas within schemas

  std::deque<subschema> all;
  subschema const* root = nullptr;
};

// Subschemas that look at the same value as `of` does.
std::vector<subschema const*> in_place(subschema const& of);

result<std::shared_ptr<compiled_schema const>, schema_mistake> compile(json::value const& schema);
std::vector<schema_violation> validate(compiled_schema const& with, json::value const& of);
expr::type static_type(compiled_schema const& of);

// One step of a JSON pointer: "/" and the key, '~' and '/' escaped.
std::string pointer_step(std::string_view key);
// At most `bytes_max` bytes and "…", cut where a character of UTF-8 begins.
std::string cut(std::string_view text, std::size_t bytes_max);
// "string \"abc\"", "number 1.50", "null", long ones cut: for messages.
std::string describe(json::value const& of);
// "\"abc\""
std::string quoted(std::string_view text);
// The candidate nearest to `text`, or nothing when none is near.
std::optional<std::string> nearest(std::string_view text, std::vector<std::string> const& candidates);

}  // namespace atone::schema_detail

namespace atone {

struct json_schema::node {
  std::shared_ptr<schema_detail::compiled_schema const> compiled;
};

}  // namespace atone
