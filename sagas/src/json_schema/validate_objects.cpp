#include "validator.hpp"

namespace atone::schema_detail {
namespace {

bool looks_at_members(subschema const& with) {
  return !with.properties.empty() || !with.pattern_properties.empty() || with.additional_properties != nullptr ||
         with.property_names != nullptr;
}

std::vector<std::string> known_names(subschema const& with) {
  std::vector<std::string> names;
  for (auto const& [name, schema] : with.properties) names.push_back(name);
  return names;
}

// The name as a JSON string value, for `propertyNames`.
json::value as_value(std::string_view name) {
  std::string text;
  json::append_string(text, name);
  auto parsed = json::parse(std::move(text));
  ATONE_ASSERT(parsed.has_value());
  return std::move(*parsed);
}

}  // namespace

bool validator::check_object(subschema const& with, json::value const& of, place const& at) {
  auto const size = of.size();
  bool valid = true;
  auto const broken = [&](std::string_view most_or_least, std::size_t count) {
    valid = fail(at, [&] {
      return "expected at " + std::string{most_or_least} + ' ' + std::to_string(count) + " members, found " + std::to_string(size);
    });
  };
  if (with.min_properties && size < *with.min_properties) broken("least", *with.min_properties);
  if (with.max_properties && size > *with.max_properties) broken("most", *with.max_properties);
  if (!check_required(with, of, at)) valid = false;
  if (!check_dependencies(with, of, at)) valid = false;
  if (!valid && !go_on()) return false;
  if (!looks_at_members(with)) return valid;
  auto const found = of.members();
  for (auto const& [key, value] : found) {
    if (check_member(with, key, value, at)) continue;
    valid = false;
    if (!go_on()) return false;
  }
  return check_names(with, found, at) && valid;
}

bool validator::check_required(subschema const& with, json::value const& of, place const& at) {
  bool valid = true;
  for (auto const& name : with.required) {
    if (of.find(name)) continue;
    valid = fail(at, [&] { return "the member " + quoted(name) + " is missing; it is required"; });
    if (!go_on()) return false;
  }
  return valid;
}

bool validator::check_member(subschema const& with, std::string const& key, json::value const& of, place const& at) {
  place const here{at, key};
  bool known = false;
  bool valid = true;
  if (auto const found = with.properties.find(key); found != with.properties.end()) {
    known = true;
    valid = check(*found->second, of, here);
  }
  for (auto const& [pattern, schema] : with.pattern_properties) {
    if (!pattern.found_in(key)) continue;
    known = true;
    valid = check(*schema, of, here) && valid;
  }
  return known ? valid : check_additional(with, key, of, here);
}

bool validator::check_additional(subschema const& with, std::string const& key, json::value const& of, place const& at) {
  if (with.additional_properties == nullptr) return true;
  if (with.additional_properties->always != false) return check(*with.additional_properties, of, at);
  return fail(at, [&] {
    auto const near = nearest(key, known_names(with));
    return "the member " + quoted(key) + " is not known" + (near ? "; did you mean " + quoted(*near) + '?' : "; no others are allowed");
  });
}

bool validator::check_names(subschema const& with, members const& of, place const& at) {
  if (with.property_names == nullptr) return true;
  bool valid = true;
  for (auto const& [key, value] : of) {
    auto const name = as_value(key);
    auto const reason = quiet() ? std::nullopt : first_violation(*with.property_names, name, at);
    if (quiet() ? holds(*with.property_names, name, at) : !reason) continue;
    valid = fail(place{at, key}, [&] { return "the member's name: " + reason->message; });
    if (!go_on()) return false;
  }
  return valid;
}

bool validator::check_dependencies(subschema const& with, json::value const& of, place const& at) {
  bool valid = true;
  for (auto const& [name, needs] : with.dependencies) {
    if (!of.find(name)) continue;
    if (auto const* schema = std::get_if<subschema const*>(&needs)) {
      valid = check(**schema, of, at) && valid;
    } else {
      for (auto const& needed : std::get<std::vector<std::string>>(needs)) {
        if (of.find(needed)) continue;
        valid = fail(at, [&] { return "the member " + quoted(needed) + " is missing; " + quoted(name) + " needs it"; });
      }
    }
    if (!valid && !go_on()) return false;
  }
  return valid;
}

}  // namespace atone::schema_detail
