#include <map>

#include "validator.hpp"

namespace atone::schema_detail {

bool validator::check_array(subschema const& with, json::value const& of, place const& at) {
  auto const size = of.size();
  bool valid = true;
  auto const broken = [&](std::string_view most_or_least, std::size_t count) {
    valid = fail(at, [&] {
      return "expected at " + std::string{most_or_least} + ' ' + std::to_string(count) + " elements, found " + std::to_string(size);
    });
  };
  if (with.min_items && size < *with.min_items) broken("least", *with.min_items);
  if (with.max_items && size > *with.max_items) broken("most", *with.max_items);
  if (!valid && !go_on()) return false;
  bool const inside = with.items != nullptr || with.has_items_in_turn || with.unique_items || with.contains != nullptr;
  if (!inside) return valid;
  auto const elements = of.elements();
  if (!check_elements(with, elements, at)) valid = false;
  if (!valid && !go_on()) return false;
  if (with.unique_items && !check_unique(elements, at)) valid = false;
  if (with.contains != nullptr && !check_contains(with, elements, at)) valid = false;
  return valid;
}

bool validator::check_elements(subschema const& with, std::vector<json::value> const& elements, place const& at) {
  bool valid = true;
  for (std::size_t index = 0; index < elements.size(); ++index) {
    auto const* schema = with.items;
    if (with.has_items_in_turn) schema = index < with.items_in_turn.size() ? with.items_in_turn[index] : with.additional_items;
    if (schema == nullptr) continue;
    if (check(*schema, elements[index], place{at, index})) continue;
    valid = false;
    if (!go_on()) return false;
  }
  return valid;
}

bool validator::check_unique(std::vector<json::value> const& elements, place const& at) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t index = 0; index < elements.size(); ++index) {
    spend(elements[index].raw().size(), at);
    if (stopped()) return false;
    auto const [first, added] = seen.emplace(json::canonical(elements[index]), index);
    if (added) continue;
    return fail(place{at, index}, [&] {
      return "expected elements that differ, found " + describe(elements[index]) + ", equal to element " + std::to_string(first->second);
    });
  }
  return true;
}

bool validator::check_contains(subschema const& with, std::vector<json::value> const& elements, place const& at) {
  for (std::size_t index = 0; index < elements.size(); ++index) {
    if (holds(*with.contains, elements[index], place{at, index})) return true;
  }
  return fail(at, [&] {
    return "expected an element that " + with.contains->at + " describes, found none among " + std::to_string(elements.size());
  });
}

}  // namespace atone::schema_detail
