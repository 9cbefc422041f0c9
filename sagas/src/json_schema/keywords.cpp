// One reader for each keyword: checks the form of its value and stores it.
#include <algorithm>
#include <limits>

#include "compiler.hpp"

namespace atone::schema_detail {
namespace {

struct type_name {
  std::string_view name;
  type_bit bit;
};
constexpr std::array<type_name, 7> type_names{{{"null", type_bit::null},
                                               {"boolean", type_bit::boolean},
                                               {"integer", type_bit::integer},
                                               {"number", type_bit::number},
                                               {"string", type_bit::string},
                                               {"array", type_bit::array},
                                               {"object", type_bit::object}}};

type_set find_type(json::value const& of) {
  if (of.type() != json::kind::string) return 0;
  for (auto const& known : type_names) {
    if (known.name == of.as_string()) return static_cast<type_set>(known.bit);
  }
  return 0;
}

constexpr std::string_view any_type = "null, boolean, integer, number, string, array or object";

}  // namespace

// ---- shared forms ----

// A whole number, 0 or more, written in any way (2, 2.0); beyond what memory holds it is as good as infinite.
std::optional<std::size_t> compiler::read_count(site const& where) {
  auto const number = where.value.type() == json::kind::number ? exact_number::of(where.value.raw()) : std::nullopt;
  if (!number || number->negative || !number->whole()) {
    expected(where, "a whole number, 0 or more");
    return std::nullopt;
  }
  if (number->zero()) return 0;
  constexpr std::int64_t digits_max = 18;
  if (number->exponent > digits_max) return std::numeric_limits<std::size_t>::max();
  std::size_t value = 0;
  for (std::int64_t at = 0; at < number->exponent; ++at) {
    auto const index = static_cast<std::size_t>(at);
    value = value * 10 + (index < number->digits.size() ? static_cast<std::size_t>(number->digits[index] - '0') : 0);
  }
  return value;
}

std::optional<bound> compiler::read_bound(site const& where) {
  auto number = where.value.type() == json::kind::number ? exact_number::of(where.value.raw()) : std::nullopt;
  if (!number) {
    expected(where, "a number with an exponent of at most 17 digits");
    return std::nullopt;
  }
  return bound{std::move(*number), std::string{where.value.raw()}};
}

std::vector<std::string> compiler::read_names(site const& where) {
  std::vector<std::string> out;
  if (where.value.type() != json::kind::array) expected(where, "a list of member names");
  for (auto const& name : where.value.elements()) {
    if (name.type() != json::kind::string) {
      fail(where.at, "expected member names (strings), found " + describe(name));
      return out;
    }
    auto text = name.as_string();
    if (std::find(out.begin(), out.end(), text) != out.end()) fail(where.at, "the name " + quoted(text) + " stands there twice");
    out.push_back(std::move(text));
  }
  return out;
}

std::vector<subschema const*> compiler::read_list(site const& where) {
  std::vector<subschema const*> out;
  if (where.value.type() != json::kind::array || where.value.size() == 0) expected(where, "a list of at least one schema");
  std::size_t index = 0;
  for (auto const& one : where.value.elements()) out.push_back(read_schema(one, where.at + '/' + std::to_string(index++)));
  return out;
}

std::optional<std::vector<std::pair<std::string, json::value>>> compiler::read_object(site const& where) {
  if (where.value.type() == json::kind::object) return where.value.members();
  expected(where, "an object");
  return std::nullopt;
}

// ---- the document ----

void compiler::read_version(subschema& into, site const& where) {
  if (!into.at.empty()) return fail(where.at, "\"$schema\" belongs at the top of the document only");
  auto text = where.value.type() == json::kind::string ? where.value.as_string() : std::string{};
  if (text.ends_with('#')) text.pop_back();
  if (text == "http://json-schema.org/draft-07/schema" || text == "https://json-schema.org/draft-07/schema") return;
  expected(where, "\"http://json-schema.org/draft-07/schema#\"");
}

void compiler::read_id(subschema& into, site const& where) {
  if (where.value.type() != json::kind::string) return expected(where, "a string");
  auto const id = where.value.as_string();
  if (id.size() > 1 && id.front() == '#' && id[1] != '/') {
    if (!by_name_.emplace(id.substr(1), &into).second) fail(where.at, "the name " + quoted(id) + " is given twice");
    return;
  }
  if (into.at.empty()) {
    document_id_ = id.substr(0, id.find('#'));
    return;
  }
  fail(where.at,
       "an \"$id\" below the top would change what \"$ref\" means and is not taken, but for names such as \"#item\"; found " + quoted(id));
}

void compiler::read_ref(subschema& into, site const& where) {
  if (where.value.type() != json::kind::string) return expected(where, "a string such as \"#/definitions/name\"");
  unresolved_.push_back(unresolved{&into, where.at, where.value.as_string()});
}

void compiler::read_text_annotation(subschema& /*into*/, site const& where) {
  if (where.value.type() != json::kind::string) expected(where, "a string");
}

void compiler::read_definitions(subschema& /*into*/, site const& where) {
  auto const members = read_object(where);
  if (!members) return;
  for (auto const& [name, schema] : *members) read_schema(schema, where.at + pointer_step(name));
}

// ---- any value ----

void compiler::read_type(subschema& into, site const& where) {
  bool const list = where.value.type() == json::kind::array;
  if (list && where.value.size() == 0) return expected(where, "at least one type");
  auto const words = list ? where.value.elements() : std::vector{where.value};
  for (auto const& word : words) {
    auto const bit = find_type(word);
    if (bit == 0) return fail(where.at, "expected " + std::string{any_type} + ", found " + describe(word));
    if ((into.types & bit) != 0) return fail(where.at, "the type " + describe(word) + " stands there twice");
    into.types = static_cast<type_set>(into.types | bit);
  }
}

void compiler::read_enum(subschema& into, site const& where) {
  if (where.value.type() != json::kind::array || where.value.size() == 0) return expected(where, "a list of at least one value");
  enumeration made;
  for (auto const& one : where.value.elements()) made.canonical.insert(json::canonical(one));
  made.shown = "one of " + describe(where.value).substr(std::string_view{"array "}.size());
  if (!into.values) {
    into.values = std::move(made);
    return;
  }
  std::erase_if(into.values->canonical, [&](std::string const& value) { return !made.canonical.contains(value); });
}

void compiler::read_const(subschema& into, site const& where) {
  enumeration made;
  made.canonical.insert(json::canonical(where.value));
  made.shown = describe(where.value);
  if (into.values) std::erase_if(made.canonical, [&](std::string const& value) { return !into.values->canonical.contains(value); });
  into.values = std::move(made);
}

// ---- numbers ----

void compiler::read_minimum(subschema& into, site const& where) {
  into.minimum = read_bound(where);
}
void compiler::read_maximum(subschema& into, site const& where) {
  into.maximum = read_bound(where);
}
void compiler::read_exclusive_minimum(subschema& into, site const& where) {
  into.exclusive_minimum = read_bound(where);
}
void compiler::read_exclusive_maximum(subschema& into, site const& where) {
  into.exclusive_maximum = read_bound(where);
}

void compiler::read_multiple_of(subschema& into, site const& where) {
  auto const number = where.value.type() == json::kind::number ? exact_number::of(where.value.raw()) : std::nullopt;
  auto const made = number ? divisor::make(*number) : std::nullopt;
  if (!made) return expected(where, "a number above 0 with at most 18 significant digits");
  into.multiple_of.emplace(*made, std::string{where.value.raw()});
}

// ---- strings ----

void compiler::read_min_length(subschema& into, site const& where) {
  into.min_length = read_count(where);
}
void compiler::read_max_length(subschema& into, site const& where) {
  into.max_length = read_count(where);
}

void compiler::read_pattern(subschema& into, site const& where) {
  if (where.value.type() != json::kind::string) return expected(where, "a regular expression (a string)");
  auto made = pattern::compile(where.value.as_string());
  if (!made) return fail(where.at, std::move(made.error().message));
  into.pattern = std::move(*made);
}

void compiler::read_format(subschema& into, site const& where) {
  if (where.value.type() != json::kind::string) return expected(where, "the name of a format (a string)");
  into.format = find_format(where.value.as_string());
  if (into.format != nullptr) return;
  fail(where.at,
       "the format " + describe(where.value) + " is not checked here, so it is refused; expected one of " + std::string{format_names()});
}

// ---- arrays ----

void compiler::read_min_items(subschema& into, site const& where) {
  into.min_items = read_count(where);
}
void compiler::read_max_items(subschema& into, site const& where) {
  into.max_items = read_count(where);
}

void compiler::read_unique_items(subschema& into, site const& where) {
  if (where.value.type() != json::kind::boolean) return expected(where, "true or false");
  into.unique_items = where.value.as_bool();
}

void compiler::read_items(subschema& into, site const& where) {
  if (where.value.type() != json::kind::array) {
    into.items = read_schema(where.value, where.at);
    return;
  }
  into.has_items_in_turn = true;
  std::size_t index = 0;
  for (auto const& one : where.value.elements()) into.items_in_turn.push_back(read_schema(one, where.at + '/' + std::to_string(index++)));
}

void compiler::read_additional_items(subschema& into, site const& where) {
  into.additional_items = read_schema(where.value, where.at);
}
void compiler::read_contains(subschema& into, site const& where) {
  into.contains = read_schema(where.value, where.at);
}

// ---- objects ----

void compiler::read_min_properties(subschema& into, site const& where) {
  into.min_properties = read_count(where);
}
void compiler::read_max_properties(subschema& into, site const& where) {
  into.max_properties = read_count(where);
}
void compiler::read_required(subschema& into, site const& where) {
  into.required = read_names(where);
}

void compiler::read_properties(subschema& into, site const& where) {
  auto const members = read_object(where);
  if (!members) return;
  for (auto const& [name, schema] : *members) into.properties.emplace(name, read_schema(schema, where.at + pointer_step(name)));
}

void compiler::read_pattern_properties(subschema& into, site const& where) {
  auto const members = read_object(where);
  if (!members) return;
  for (auto const& [name, schema] : *members) {
    auto const at = where.at + pointer_step(name);
    auto made = pattern::compile(name);
    if (!made) return fail(at, std::move(made.error().message));
    into.pattern_properties.emplace_back(std::move(*made), read_schema(schema, at));
  }
}

void compiler::read_additional_properties(subschema& into, site const& where) {
  into.additional_properties = read_schema(where.value, where.at);
}
void compiler::read_property_names(subschema& into, site const& where) {
  into.property_names = read_schema(where.value, where.at);
}

void compiler::read_dependencies(subschema& into, site const& where) {
  auto const members = read_object(where);
  if (!members) return;
  for (auto const& [name, needs] : *members) {
    auto const at = where.at + pointer_step(name);
    if (needs.type() == json::kind::array) {
      into.dependencies.emplace(name, read_names(site{needs, at}));
    } else {
      into.dependencies.emplace(name, read_schema(needs, at));
    }
  }
}

// ---- schemas together ----

void compiler::read_all_of(subschema& into, site const& where) {
  into.all_of = read_list(where);
}
void compiler::read_any_of(subschema& into, site const& where) {
  into.any_of = read_list(where);
}
void compiler::read_one_of(subschema& into, site const& where) {
  into.one_of = read_list(where);
}
void compiler::read_not(subschema& into, site const& where) {
  into.negated = read_schema(where.value, where.at);
}
void compiler::read_if(subschema& into, site const& where) {
  into.condition = read_schema(where.value, where.at);
}
void compiler::read_then(subschema& into, site const& where) {
  into.then_branch = read_schema(where.value, where.at);
}
void compiler::read_else(subschema& into, site const& where) {
  into.else_branch = read_schema(where.value, where.at);
}

}  // namespace atone::schema_detail
