// `services`: who is called.
#pragma once

#include <vector>

#include <atone/definition.hpp>

#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::yaml {

std::vector<service> read_services(spot const& at, report& out);

}  // namespace atone::yaml
