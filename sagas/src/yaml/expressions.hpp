// Expressions and templates of a definition: compiled, and their references held against the scope.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <atone/definition.hpp>
#include <atone/expression.hpp>

#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

#include "yaml/scope.hpp"

namespace atone::yaml {

// What one expression or template may use.
struct expression_scope {
  expr::declarations names;
  scope const* steps = nullptr;  // nothing: `steps` is not among the names
  std::string step_path;         // document path of the step it belongs to
  std::string step_id;           // for messages

  expression_scope() = default;
};

// A value with expressions in it, and what is known of its type.
struct built_template {
  value_template what;
  expr::type type;

  built_template() = default;
};

// A scalar `=…`; anything else is reported.
std::optional<expr::program> read_expression(spot const& at, expression_scope const& names, report& out);
// Likewise; its static type must be one of `kinds` (or dynamic).
std::optional<expr::program> read_typed_expression(spot const& at, expression_scope const& names,
                                                   std::initializer_list<expr::type_kind> kinds, report& out);
// Any YAML value. Nothing when there is a mistake in it.
std::optional<built_template> read_template(spot const& at, expression_scope const& names, report& out);

// Reports references to what can't be seen or may be missing.
void check_references(expr::program const& program, spot const& at, expression_scope const& names, report& out);

// Where byte `offset` of an expression's text stands in the document.
place place_in(node const& scalar, std::size_t offset);

}  // namespace atone::yaml
