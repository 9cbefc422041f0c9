// A saga as the store has it: of one that has ended, rests, or is driven by another coordinator. Thread rules: none, it is pure.
#pragma once

#include <vector>

#include <atone/coordinator.hpp>

namespace atone::runtime {

// By replaying its history. Where that can't be (null: the definition is not here), the row is all that is told.
saga_view stored_view(saga_row row, std::vector<event> const& history, definition_ptr const& definition);

}  // namespace atone::runtime
