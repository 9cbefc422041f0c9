// GET /atone/effects: what this service's own tables say of each operation of each saga, for the audit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <atone/participant.hpp>
#include <atone/result.hpp>

namespace kit {

inline constexpr std::int64_t effects_page_max = 5000;

// Lists operations after `after` (the `next` of the page before; empty: from the start, or from the saga `from` where
// that is given) in the order of (saga, step, op), one row an
// operation: {"saga", "step", "op", "verdict", "applied"}. `verdict` is the barrier's word (done, no, empty, refused); `applied` is how
// many rows of the `evidence` tables carry this operation's mark. Every evidence table has the columns saga, step and op, and each change
// writes exactly one row into one of them: two rows are an effect applied twice. Errors: invalid_argument for a cursor that is none.
atone::result<std::string> list_effects(atone::participant::sql_session& session, std::vector<std::string> const& evidence,
                                        std::string_view after, std::string_view from, std::int64_t limit);

}  // namespace kit
