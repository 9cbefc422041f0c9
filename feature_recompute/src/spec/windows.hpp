// The windows of a feature set.
#pragma once

#include <optional>

#include <atone/features/feature_set.hpp>
#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::features {

void read_windows(yaml::spot const& root, feature_set& into, yaml::report& out);

// The window that the spot names; reports an unknown one with the nearest name.
std::optional<std::uint32_t> read_window(yaml::spot const& at, feature_set const& of, yaml::report& out);

}  // namespace atone::features
