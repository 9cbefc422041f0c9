// From the order service's answer to the features of one user.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <atone/features/engine.hpp>
#include <atone/result.hpp>
#include <atone/time.hpp>

namespace features {

// examples/features/user-orders.yaml
extern std::string_view const built_in_set;

using engine_ptr = std::shared_ptr<atone::features::feature_engine const>;

// An engine for the set in that YAML. The message of a failure (invalid_argument) lists every mistake with its place in `file`.
atone::result<engine_ptr> make_engine(std::string_view yaml, std::string_view file);

// Reads {"orders": [{"order_id", "amount", "placed_at"} …]}: each column of the set from the field of its name, the entity from `user`.
// Errors (unavailable: the other service answered what can't be used) name the column.
atone::result<atone::features::event_table> read_orders(atone::features::feature_set const& set, std::int64_t user, std::string_view json);

// Fetches and computes; JSON of the feature row. Errors: unavailable when the order service can't be asked now.
atone::result<std::string> compute(atone::features::feature_engine const& engine, std::string const& orders_url, std::int64_t user,
                                   atone::timestamp as_of);

// The features of somebody without orders.
std::string compute_empty(atone::features::feature_engine const& engine, atone::timestamp as_of);

}  // namespace features
