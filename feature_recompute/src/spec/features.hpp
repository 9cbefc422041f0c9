// The features of a feature set.
#pragma once

#include <atone/features/feature_set.hpp>
#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::features {

// Columns and windows have been read.
void read_features(yaml::spot const& root, feature_set& into, yaml::report& out);

}  // namespace atone::features
