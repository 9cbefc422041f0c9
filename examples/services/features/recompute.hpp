// From the order service's answer to the features of one user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <atone/features/window_features.hpp>
#include <atone/result.hpp>
#include <atone/time.hpp>

namespace features {

// Reads {"orders": [{"order_id", "amount", "placed_at"} …]}. Errors (unavailable: the other service answered what can't be used) name the
// field.
atone::result<std::vector<atone::features::order_event>> read_orders(std::string_view json);

// Fetches and computes; JSON of the feature row. Errors: unavailable when the order service can't be asked now.
atone::result<std::string> compute(std::string const& orders_url, std::int64_t user, atone::timestamp as_of);

// The features of somebody without orders.
std::string compute_empty(atone::timestamp as_of);

}  // namespace features
