// Brings the schema up to what this build knows. Thread rules: one thread at a time for a session.
#pragma once

#include <atone/journal.hpp>

#include "postgres/session.hpp"

namespace atone::postgres {

result<schema_status> schema_of(session& on);

// Whether the database is at the migration this build expects. Errors: unsupported, saying what to do; unavailable.
result<void> check_schema(session& on);

// Applies what is missing, each step in a transaction of its own under an advisory lock, so that two who migrate at once
// take turns. Errors: unsupported (the database is not UTF-8, or newer than this build), unavailable.
result<void> migrate(session& on);

}  // namespace atone::postgres
