// What an expression may assume of a value that its schema has let through. Only what holds for every valid value: anything else
// is dynamic.
#include <algorithm>
#include <map>

#include "schema.hpp"

namespace atone::schema_detail {
namespace {

using expr::type;
using expr::type_kind;

class typer {
 public:
  // Each schema is looked at once; one that contains itself is dynamic where it does.
  type of(subschema const& schema) {
    if (auto const known = types_.find(&schema); known != types_.end()) return known->second;
    if (depth_ == depth_max) return type{};
    types_.emplace(&schema, type{});
    ++depth_;
    auto made = make(schema);
    --depth_;
    types_[&schema] = made;
    return made;
  }

 private:
  static constexpr std::size_t depth_max = 100;  // schemas within each other, references followed

  type make(subschema const& schema) {
    if (schema.ref != nullptr) return of(*schema.ref);
    switch (static_cast<type_bit>(schema.types)) {
      case type_bit::null: return type{type_kind::null};
      case type_bit::boolean: return type{type_kind::boolean};
      case type_bit::integer: return type{type_kind::integer};
      case type_bit::number: return type{type_kind::floating};
      case type_bit::string: return type{type_kind::string};
      case type_bit::array: return type::list_of(schema.items != nullptr ? of(*schema.items) : type{});
      case type_bit::object: return object(schema);
    }
    return type{};  // several types, or none said
  }

  type object(subschema const& schema) {
    std::vector<type::field> fields;
    auto const is_required = [&](std::string const& name) {
      return std::find(schema.required.begin(), schema.required.end(), name) != schema.required.end();
    };
    for (auto const& [name, member] : schema.properties) {
      fields.push_back(type::field{name, std::make_shared<type const>(of(*member)), is_required(name)});
    }
    for (auto const& name : schema.required) {
      if (schema.properties.contains(name)) continue;
      fields.push_back(type::field{name, std::make_shared<type const>(), true});
    }
    auto const* others = schema.additional_properties;
    bool const closed = others != nullptr && others->always == false && schema.pattern_properties.empty();
    return type::object_of(std::move(fields), !closed);
  }

  std::map<subschema const*, type> types_;
  std::size_t depth_ = 0;
};

}  // namespace

type static_type(compiled_schema const& of) {
  return typer{}.of(*of.root);
}

}  // namespace atone::schema_detail
