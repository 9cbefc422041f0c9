// JSON Schemas inside a definition: `input` and `out`.
#pragma once

#include <optional>

#include <atone/json_schema.hpp>

#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::yaml {

// Compiles the schema; its mistakes are reported where they stand in the YAML.
std::optional<json_schema> read_schema(spot const& at, report& out);

// The node a JSON pointer leads to, as far as it leads; ids in `path` follow.
spot follow(spot from, std::string_view pointer);

}  // namespace atone::yaml
