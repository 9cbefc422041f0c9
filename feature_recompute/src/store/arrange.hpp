// Rows in order and checked, but each still by itself: what a store is made of that keeps every row.
#pragma once

#include <atone/features/events.hpp>

namespace atone::features {

// As sort_events, up to uniting: rows of one event stay as many as came, duplicates among them, and known_until is empty. Errors: those of
// sort_events but for two contents of one id.
result<event_store> arrange_events(feature_set const& of, event_table const& table);

}  // namespace atone::features
