// The feature service: the features of a user's orders that a feature set describes (counts, sums, means and recency over 7, 30 and 90
// days, examples/features/user-orders.yaml, where no other is given), kept version by version.
//
//   POST /recompute {user, as_of}     fetches the user's orders from the order service, computes, stores the next version
//   POST /republish {user, before}    serves the version before that saga's again, under a new number, marked "to_be_updated"
//   GET  /features/{user}             the version that is served   GET /totals
//
// Versions only ever rise: an undo is a new version with the older content, so that no serving node ever goes back.
#pragma once

#include "kit/service.hpp"

namespace features {

inline constexpr std::string_view orders_flag = "--orders";  // where the order service is
inline constexpr std::string_view set_flag = "--set";        // the feature set

kit::service_definition define();

}  // namespace features
