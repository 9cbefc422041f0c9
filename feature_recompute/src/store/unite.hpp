// Rows of one event become one event: duplicates go, corrections follow each other.
#pragma once

#include <atone/features/events.hpp>

namespace atone::features {

// `store` is sorted and gathered, with the ids in their column and known_from filled where the set has known_at. Fills known_until, drops
// duplicates and counts them. Errors: invalid_argument (one id with two contents that became known together).
result<void> unite_rows(feature_set const& of, event_store& store);

// An entity or an event id as a person reads it.
std::string shown_key(event_column const& column, column_type type, std::int64_t value);

}  // namespace atone::features
