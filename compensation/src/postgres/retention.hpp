// Retention on PostgreSQL: a connection of its own beside the writer's.
// Thread rules: one thread at a time.
#pragma once

#include <memory>

#include <atone/retention.hpp>

#include "postgres/session.hpp"

namespace atone::postgres {

// Of the writer that took over under this epoch. Errors: unavailable; fenced (no writer has it any more); unsupported (the tables).
result<std::unique_ptr<retention>> open_retention_as(endpoint const& to, epoch as);

}  // namespace atone::postgres
