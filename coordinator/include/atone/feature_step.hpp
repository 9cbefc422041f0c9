// Recomputing features as a step of a saga: the local service `feature_recompute` over feature services of this process.
//
//   services: {features: {local: feature_recompute}}
//   steps:
//     - id: features
//       call: features recompute
//       in: {entity: =input.user_id, as_of: =input.placed_at}   # also set, input, known_at
//       compensate: {call: features republish, in: {entity: =input.user_id}}
//
// The step's key is the saga and the step's path, so that a repeat gets the stored answer and `republish` finds what it undoes. The answer
// is that of features::to_json(). Thread rules: as coordinator::handle().
#pragma once

#include <map>
#include <memory>
#include <string>

#include <atone/coordinator.hpp>
#include <atone/features/service.hpp>

namespace atone {

// By the name of their feature set.
using feature_services = std::map<std::string, std::shared_ptr<features::feature_service>>;

// The local service's name in definitions.
inline constexpr char feature_group[] = "feature_recompute";

// Binds `recompute` and `republish`. A call that names no set means the only one. `begin_within`: a recompute that has waited longer for
// its turn is not begun (`unavailable`, so that the step's retries and fallback decide). Calls at work hold no handler thread: as many
// sagas as are under way can share a batch. Stop the services after the coordinator.
void bind_features(coordinator& to, feature_services services, duration begin_within = std::chrono::seconds{5});

}  // namespace atone
