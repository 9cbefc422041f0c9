// One request against the database: the barrier for changes, a plain transaction for readings. No HTTP server, no faults.
// Thread rules: may be called from many threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include <atone/http.hpp>
#include <atone/participant.hpp>

#include "faults.hpp"
#include "route.hpp"

namespace kit {

struct counters {
  std::atomic<std::uint64_t> requests{0}, done{0}, refused{0}, duplicates{0}, empty{0}, late_actions{0}, errors{0}, overloaded{0};
  std::array<std::atomic<std::uint64_t>, fault_kinds> faults{};
};

// {"error": text} under this status.
atone::http::response error_response(std::int32_t status, std::string_view text);

// The headers that name the operation: fills `context.call`. Errors (invalid_argument) name the header that is missing or wrong.
atone::result<void> read_call(atone::http::request const& request, request_context& context);

// Reads; `nothing` becomes 404.
atone::http::response perform_reading(atone::participant::participant_database& database, route const& on, request_context const& context);
// Changes, behind the barrier. `refuse`: answer a refusal instead of doing the work, stored as a real one would be.
atone::http::response perform_change(atone::participant::participant_database& database, route const& on, request_context context,
                                     bool refuse, counters& count);

}  // namespace kit
