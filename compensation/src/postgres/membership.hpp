// The membership on PostgreSQL: a connection of its own, which also listens for what other coordinators say.
// Thread rules: one thread at a time.
#pragma once

#include <memory>

#include <atone/membership.hpp>

#include "postgres/session.hpp"

namespace atone::postgres {

// Of the writer that took over under this epoch. Errors: unavailable; fenced (no writer has it any more).
result<std::unique_ptr<membership>> open_membership_as(endpoint const& to, epoch as);

}  // namespace atone::postgres
