// The store on PostgreSQL. Thread rules: hands out both sides from any thread.
#pragma once

#include <atone/journal.hpp>

#include "postgres/limits.hpp"

namespace atone::postgres {

// As open_postgres_store, with other limits (tests).
result<std::unique_ptr<store>> open_with_limits(std::string const& address, session_limits session, retry_limits retry);

}  // namespace atone::postgres
