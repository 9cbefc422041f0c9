// From YAML to a checked definition: every mistake with its place, several at a time, nothing guessed.
// Thread rules: functions are pure.
#pragma once

#include <string_view>
#include <vector>

#include <atone/definition.hpp>
#include <atone/diagnostic.hpp>

namespace atone {

// What became of a text.
struct loaded {
  definition_ptr definition;            // null when there is any mistake
  std::vector<diagnostic> diagnostics;  // in the order of the text; warnings included. At most load_limits::diagnostics_max, mistakes first

  loaded() = default;
  bool ok() const noexcept { return definition != nullptr; }
};

// Loads and lints one document. Never fails otherwise than by diagnostics. The content hash is over the text's meaning (canonical JSON of
// the document), so that a comment or an indentation does not make another version.
loaded load_definition(std::string_view yaml);

// One YAML document as JSON, under the same bounds and strictness (duplicate keys, odd scalars), for configuration files. The message
// of a failure (invalid_argument) lists every mistake as "line:column  path   what", a line each.
result<json::value> read_yaml(std::string_view yaml);

}  // namespace atone
