// From YAML to a checked definition: every mistake with its place, several at a time, nothing guessed.
// Thread rules: functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <atone/definition.hpp>

namespace atone {

// One mistake (or warning) in a definition.
struct diagnostic {
  enum class severity_kind : std::uint8_t { mistake, warning };

  std::uint32_t line = 0;    // from 1
  std::uint32_t column = 0;  // from 1
  severity_kind severity = severity_kind::mistake;
  std::string path;     // "steps[2].compensate.in.id"; empty: the document
  std::string message;  // what was found, what was expected
  std::string hint;     // how to mend it; may be empty

  diagnostic() = default;
  friend bool operator==(diagnostic const&, diagnostic const&) = default;
};

// What became of a text.
struct loaded {
  definition_ptr definition;            // null when there is any mistake
  std::vector<diagnostic> diagnostics;  // in the order of the text; warnings included. At most load_limits::diagnostics_max, mistakes first

  loaded() = default;
  bool ok() const noexcept { return definition != nullptr; }
};

// Bounds of a YAML document; breaking one is a mistake like any other.
struct load_limits {
  static constexpr std::size_t bytes_max = 1024 * 1024;
  static constexpr std::size_t nodes_max = 100'000;  // after aliases are expanded
  static constexpr std::size_t depth_max = 64;
  static constexpr std::size_t diagnostics_max = 50;
};

// Loads and lints one document. Never fails otherwise than by diagnostics. The content hash is over the text's meaning (canonical JSON of
// the document), so that a comment or an indentation does not make another version.
loaded load_definition(std::string_view yaml);

// One YAML document as JSON, under the same bounds and strictness (duplicate keys, odd scalars), for configuration files. The message
// of a failure (invalid_argument) lists every mistake as "line:column  path   what", a line each.
result<json::value> read_yaml(std::string_view yaml);

// "file.yaml:31:7  steps[2].compensate.in.id   message" with the hint on a line of its own.
std::string format(diagnostic const& of, std::string_view file);

}  // namespace atone
