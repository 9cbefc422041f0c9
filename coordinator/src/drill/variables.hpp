// ${NAME} in a plan: values that differ from installation to installation.
// Thread rules: pure.
#pragma once

#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

#include "drill/plan.hpp"

namespace atone::drill {

// Replaces ${NAME} and ${NAME:-otherwise} in every scalar that is no key. A variable that is not set and has no other value is a mistake at
// the scalar's place; so is a "${" that is never closed. "$${" stands for "${".
void fill_in(yaml::node& tree, variable_lookup const& variables, yaml::report& out);

}  // namespace atone::drill
