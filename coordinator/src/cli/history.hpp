// The events of one saga, a line each.
// Thread rules: pure.
#pragma once

#include <cstddef>
#include <vector>

#include <atone/event.hpp>

#include "cli/terminal.hpp"

namespace atone::cli {

// From the event at index `from` on; `verbose` adds payloads. The first line is a heading when `from` is 0.
void print_events(std::vector<event> const& events, std::size_t from, bool verbose, terminal const& to);

}  // namespace atone::cli
