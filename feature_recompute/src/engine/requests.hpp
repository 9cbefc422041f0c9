// From what is asked for to rows to compute; the same for every engine.
#pragma once

#include <span>
#include <vector>

#include <atone/features/engine.hpp>

#include "engine/plan.hpp"

namespace atone::features {

// A table for so many rows; its memory is written first by who computes it.
feature_table empty_table(feature_plan const& plan, std::size_t rows);

// Errors: invalid_argument (a time out of bounds; an entity that the store has not).
result<void> check_times(timestamp at, timestamp known_at);
result<void> check_moments(event_store const& store, std::span<feature_moment const> moments);

row_request request_for(event_store const& store, std::uint32_t entity, timestamp at, timestamp known_at);
row_request request_for(event_store const& store, feature_moment const& moment);
// `first`: of each row, the first row of its entity.
row_request request_for_event(event_store const& store, std::vector<std::uint32_t> const& first, std::size_t row);
std::vector<std::uint32_t> first_rows(event_store const& store);

// All of them as a list, for engines that take them elsewhere. Errors: those of the checks.
result<std::vector<row_request>> requests_as_of(event_store const& store, timestamp at, timestamp known_at);
result<std::vector<row_request>> requests_at(event_store const& store, std::span<feature_moment const> moments);
std::vector<row_request> requests_per_event(event_store const& store);

}  // namespace atone::features
