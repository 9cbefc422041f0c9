// What `doctor` says of a PostgreSQL server. Thread rules: one thread at a time for a session.
#pragma once

#include <string>
#include <vector>

#include "postgres/session.hpp"

namespace atone::postgres {

// One warning a line, each with what to do; empty: fine.
std::vector<std::string> server_warnings(session& on);

}  // namespace atone::postgres
