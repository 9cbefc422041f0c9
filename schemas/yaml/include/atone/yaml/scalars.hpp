// What a scalar means: JSON's own scalars and texts, nothing of YAML 1.1's guesses (010, 1_000, yes, on, ~).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::yaml {

enum class scalar_kind : std::uint8_t { text, number, boolean, null, refused };

// A scalar's meaning; `why` and `hint` are filled when it is refused.
struct scalar_meaning {
  scalar_kind kind = scalar_kind::text;
  std::string why;
  std::string hint;

  scalar_meaning() = default;
};

// For scalar and null nodes.
scalar_meaning meaning_of(node const& scalar);

// A JSON number's text: RFC 8259 grammar.
bool is_json_number(std::string_view text) noexcept;
bool is_json_integer(std::string_view text) noexcept;  // without fraction and exponent

// Whether the node is an expression: a text that begins with one `=`, however it is quoted.
bool is_expression(node const& of) noexcept;
// The text that a scalar stands for: `==a` means `=a`.
std::string_view plain_text(node const& of) noexcept;

// The node as JSON text; scalars are resolved, expressions stay as they are written. Mistakes are reported when `out` is given.
std::string to_json(spot const& of, report* out);

}  // namespace atone::yaml
