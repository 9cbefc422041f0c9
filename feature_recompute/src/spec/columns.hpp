// The columns of the events and the parts some of them play.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <atone/features/feature_set.hpp>
#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::features {

void read_columns(yaml::spot const& root, feature_set& into, yaml::report& out);
// entity, event_id, event_time, known_at: each names a column of a type that fits.
void read_parts(yaml::spot const& root, feature_set& into, yaml::report& out);
void read_late(yaml::spot const& root, feature_set& into, yaml::report& out);

// The column that the spot names, of one of the types; reports what it is instead, with the nearest name.
std::optional<std::uint32_t> read_column(yaml::spot const& at, std::span<column_type const> types, feature_set const& of,
                                         yaml::report& out);

}  // namespace atone::features
