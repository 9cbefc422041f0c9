// What a step calls: `SERVICE METHOD /path/{field}`, `SERVICE handler`, or SQL.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <atone/definition.hpp>

#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

#include "yaml/expressions.hpp"

namespace atone::yaml {

// `call: …`; the service must be among `services`.
std::optional<target> read_call(spot const& at, std::vector<service> const& services, report& out);
// `sql: …`.
std::optional<target> read_sql(spot const& at, report& out);

// The names a statement takes: `:name` outside of texts, comments and casts.
std::vector<std::string> sql_names(std::string_view statement);

// Whether `in` (absent: nothing) gives the target what it needs.
void check_target_input(target const& what, spot const& verb, std::optional<spot> const& in, report& out);

}  // namespace atone::yaml
