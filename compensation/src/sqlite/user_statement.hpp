// The user's statement of a `sql` step: named parameters from a JSON object, an answer as JSON.
// Thread rules: those of the connection.
#pragma once

#include <chrono>
#include <string>

#include <atone/journal.hpp>

#include "sqlite/authorizer.hpp"
#include "sqlite/connection.hpp"

namespace atone::sqlite {

// Rows a user's statement may give; more is refused.
inline constexpr std::int64_t user_rows_max = 1'000'000;

// How long one may run: it holds up the one writer, and every other saga with it.
inline constexpr std::chrono::milliseconds user_time_max{5'000};

// Runs it inside the open transaction. Answers {"rows": affected, "row": first row or null}. Errors, after which nothing of the
// transaction may be committed: statement_failed (it ran longer than user_time_max; the disk or the memory is full, a file can't be
// read or written now); bad_data for anything else: more than one statement, transaction control, ATTACH, PRAGMA, writing Atone's own
// tables, a parameter without a value, whatever SQLite refuses.
result<std::string> run_user_statement(connection& on, authorizer& guard, sql_statement const& statement);

}  // namespace atone::sqlite
