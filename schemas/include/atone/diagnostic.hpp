// What a reader of YAML documents (sagas, feature sets) has to say of one, and the bounds all of them keep.
// Thread rules: functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace atone {

// One mistake (or warning) in a document.
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

// Bounds of a YAML document; breaking one is a mistake like any other.
struct load_limits {
  static constexpr std::size_t bytes_max = 1024 * 1024;
  static constexpr std::size_t nodes_max = 100'000;  // after aliases are expanded
  static constexpr std::size_t depth_max = 64;
  static constexpr std::size_t diagnostics_max = 50;
};

// "file.yaml:31:7  steps[2].compensate.in.id   message" with the hint on a line of its own.
std::string format(diagnostic const& of, std::string_view file);

}  // namespace atone
