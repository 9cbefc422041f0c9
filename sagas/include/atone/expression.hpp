// The expression language of definitions: a strict subset of CEL (Common Expression Language). No clock, no environment,
// no I/O; every evaluation is bounded; 64-bit integers are exact; overflow and missing fields are errors, never guesses.
// Grammar and functions: docs/expressions.md. Source of the semantics: the CEL language definition.
//
// Thread rules: programs and values are immutable and may be shared; nothing here keeps state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/json.hpp>
#include <atone/result.hpp>

namespace atone::expr {

// A mistake in an expression: where (byte offset into its text), what was found, what was expected.
struct mistake {
  std::size_t offset = 0;
  std::size_t length = 0;
  std::string message;

  mistake() = default;
  mistake(std::size_t at, std::size_t size, std::string text) : offset(at), length(size), message(std::move(text)) {}
};

// The kinds of value that expressions know. `object` is a map whose fields are known from a schema; `floating` is JSON Schema's number.
enum class type_kind : std::uint8_t { dynamic, null, boolean, integer, unsigned_integer, floating, string, list, map, object };

// A static type. `dynamic` is checked at run time. An object knows its fields (from a JSON Schema); a field that the
// schema does not require may be missing. Cheap to copy.
class type {
 public:
  // One known field of an object.
  struct field {
    std::string name;
    std::shared_ptr<type const> of;  // never null
    bool required = true;            // false: it may be missing, so reading it unguarded may fail
  };

  type() = default;  // dynamic
  explicit type(type_kind kind) : kind_(kind) {}
  static type list_of(type element);
  static type object_of(std::vector<field> fields, bool open);  // open: unknown fields are allowed and dynamic

  type_kind kind() const noexcept { return kind_; }
  type element() const;                                     // of a list; dynamic for every other kind
  std::vector<field> const& fields() const noexcept;        // of an object; empty for every other kind
  field const* find(std::string_view name) const noexcept;  // null: no such field is known
  bool open() const noexcept { return open_; }
  std::string text() const;  // for messages: "integer", "list of string"

 private:
  type_kind kind_ = type_kind::dynamic;
  bool open_ = true;
  std::shared_ptr<type const> element_;
  std::shared_ptr<std::vector<field> const> fields_;
};

// The names an expression may use, each with its type ("input", "saga", "steps" …). Any other name is a mistake at compile().
using declarations = std::map<std::string, type, std::less<>>;

// One field access chain that begins at a declared name: steps.order.out.id -> {"steps","order","out","id"}.
// An index with a constant string counts as a field; any other index ends the chain.
struct reference {
  std::vector<std::string> path;
  std::size_t offset = 0;    // bytes into the expression's text
  bool guarded = false;      // evaluated only after has() of this chain (or a prefix that covers it) held
  bool only_tested = false;  // stands inside has() itself

  reference() = default;
};

// Values to evaluate with: declared name -> JSON value.
using bindings = std::map<std::string, json::value, std::less<>>;

// What one evaluation may cost; beyond: errc::exhausted.
struct bounds {
  std::uint64_t steps_max = 100'000;  // AST nodes visited, macro iterations included
  std::size_t result_bytes_max = 4 * 1024 * 1024;

  bounds() = default;
};

struct syntax_tree;  // internal

// A checked expression. Cheap to copy: copies share the tree.
class program {
 public:
  // Reads and checks the text against the names' types. Text limits: 4,096 bytes, nesting 64. Errors name the place in the text.
  static result<program, mistake> compile(std::string_view text, declarations const& names);

  std::string const& text() const noexcept { return text_; }
  type const& result_type() const noexcept { return type_; }                         // dynamic where only running it tells
  std::vector<reference> const& references() const noexcept { return references_; }  // in the order of the text

  // The result as JSON; a value that is only passed through keeps its bytes. Missing field, overflow, type mismatch, division
  // by zero and exceeded bounds are errors (errc::invalid_argument, errc::exhausted) that name the place in the text.
  result<json::value> evaluate(bindings const& values, bounds const& limits = {}) const;
  // Anything but a boolean is errc::invalid_argument.
  result<bool> evaluate_bool(bindings const& values, bounds const& limits = {}) const;

 private:
  program() = default;

  std::string text_;
  type type_;
  std::vector<reference> references_;
  std::shared_ptr<syntax_tree const> tree_;
  std::vector<std::string> passed_;  // name and fields, where the whole expression is `name.field…`
};

}  // namespace atone::expr
