#include <atone/json_schema.hpp>

#include "schema.hpp"

namespace atone {

result<json_schema, schema_mistake> json_schema::compile(json::value const& schema) {
  auto compiled = schema_detail::compile(schema);
  if (!compiled) return std::move(compiled.error());
  auto root = std::make_shared<node>();
  root->compiled = std::move(*compiled);
  return json_schema{std::move(root)};
}

std::vector<schema_violation> json_schema::validate(json::value const& of) const {
  return schema_detail::validate(*root_->compiled, of);
}

expr::type json_schema::static_type() const {
  return schema_detail::static_type(*root_->compiled);
}

}  // namespace atone
