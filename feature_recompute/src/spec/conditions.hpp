// `where` and `per`: which rows count.
#pragma once

#include <vector>

#include <atone/features/feature_set.hpp>
#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::features {

// `where: {product: [a, b], amount: {at_least: 10}}`
std::vector<condition> read_where(yaml::spot const& at, feature_set const& of, yaml::report& out);
// `per: {product: [a, b]}`
void read_per(yaml::spot const& at, feature_set const& of, feature_spec& into, yaml::report& out);

}  // namespace atone::features
