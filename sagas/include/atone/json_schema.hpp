// JSON Schema draft-07, over raw number text (no rounding), with what a definition needs of it: validation, and the static
// type for expressions. Held by the public JSON-Schema-Test-Suite (tests/unit/json_schema). Regular expressions are RE2's:
// linear time. What would not be checked is refused when the schema is read, with its place: unknown keywords, a `format` that
// we don't check, contentEncoding and contentMediaType, a `$ref` out of the document, rules beside a `$ref` (draft-07 ignores
// them), an `$id` below the top that is no "#name", a schema that leads back to itself on the same value.
//
// Thread rules: a compiled schema is immutable and may be shared.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <atone/expression.hpp>
#include <atone/json.hpp>
#include <atone/result.hpp>

namespace atone {

// Where a value breaks its schema.
struct schema_violation {
  std::string at;       // JSON pointer into the value, "" for the whole
  std::string message;  // what was found and what was expected

  schema_violation() = default;
};

// A mistake in the schema itself.
struct schema_mistake {
  std::string at;  // JSON pointer into the schema
  std::string message;

  schema_mistake() = default;
};

// One compiled schema. Cheap to copy: copies share it.
class json_schema {
 public:
  static constexpr std::size_t violations_max = 20;

  // The first mistake that is found is the error. The schema itself need not outlive the call.
  static result<json_schema, schema_mistake> compile(json::value const& schema);

  // Empty: valid. At most violations_max are listed.
  std::vector<schema_violation> validate(json::value const& of) const;
  // What expressions may assume of a valid value; whatever the schema leaves open is dynamic.
  expr::type static_type() const;

 private:
  struct node;
  explicit json_schema(std::shared_ptr<node const> root) : root_(std::move(root)) {}

  std::shared_ptr<node const> root_;
};

}  // namespace atone
