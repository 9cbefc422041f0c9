// Every key of the YAML, by the map it stands in. The JSON Schema of the YAML (schemas/saga.schema.json) has the same ones;
// a test compares them.
#pragma once

#include <span>
#include <string_view>

namespace atone::yaml {

// Keys of one kind of map: those that work now, and those that a later version will know.
struct key_table {
  std::string_view name;  // of the map, for messages: "a step"
  std::span<std::string_view const> now;
  std::span<std::string_view const> later;
  std::string_view instead = {};  // what to use in place of a later key; empty: all that works now

  bool knows(std::string_view key) const noexcept;
  bool waits(std::string_view key) const noexcept;
};

extern key_table const document_keys;
extern key_table const defaults_keys;
extern key_table const service_keys;
extern key_table const step_keys;
extern key_table const retry_keys;
extern key_table const compensate_keys;
extern key_table const default_compensate_keys;
extern key_table const fallback_keys;
extern key_table const fallback_value_keys;
extern key_table const fallback_call_keys;
extern key_table const parallel_keys;

// Where a key that stands in the wrong map belongs ("retry"), or nothing.
std::string_view home_of(std::string_view key) noexcept;

// The known key most like `key`, or nothing when none is near.
std::string_view nearest(std::string_view key, std::span<std::string_view const> known);

}  // namespace atone::yaml
