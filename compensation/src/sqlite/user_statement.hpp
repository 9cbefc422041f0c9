// The user's statement of a `sql` step: named parameters from a JSON object, an answer as JSON.
// Thread rules: those of the connection.
#pragma once

#include <string>

#include <atone/journal.hpp>

#include "sqlite/authorizer.hpp"
#include "sqlite/connection.hpp"

namespace atone::sqlite {

// Rows a user's statement may give; more is refused.
inline constexpr std::int64_t user_rows_max = 1'000'000;

// Runs it inside the open transaction. Answers {"rows": affected, "row": first row or null}. Refused as bad_data: more than one
// statement, transaction control, ATTACH, PRAGMA, writing Atone's own tables, a parameter without a value, anything SQLite refuses.
result<std::string> run_user_statement(connection& on, authorizer& guard, sql_statement const& statement);

}  // namespace atone::sqlite
