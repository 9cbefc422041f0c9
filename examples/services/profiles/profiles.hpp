// The user-profile service: what a user has spent, and a tag that says whether the profile is up to date.
//
//   PUT  /users/{user}/tag {tag}          sets the tag ("updating", "to_be_updated" …)
//   POST /users/{user}/spending {add}     adds to the spending, and sets the tag to "current" when something was added
//   GET  /users/{user}   GET /totals
//
// The undo of an addition is the addition of its negative, never the value from before: others add meanwhile. What was there
// before is kept in the ledger as evidence only.
#pragma once

#include "kit/service.hpp"

namespace profiles {

inline constexpr std::string_view limit_flag = "--limit";  // minor units a single order may add; above it: 409 "spending limit reached"

kit::service_definition define();

}  // namespace profiles
