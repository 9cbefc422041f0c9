// The part of a plan that says what goes wrong.
// Thread rules: pure.
#pragma once

#include <atone/yaml/fields.hpp>

#include "drill/plan.hpp"

namespace atone::drill {

// `faults:` and each one's `expect:`. Needs the plan's proxies and processes: what a fault names must be there.
void read_faults(yaml::spot const& root, drill_plan& into, yaml::report& out);

}  // namespace atone::drill
