// SQLSTATE to errc, in one place: what the server said decides what the caller may do next.
// Thread rules: plain functions.
#pragma once

#include <string>
#include <string_view>

#include <atone/result.hpp>

namespace atone::postgres {

// SQLSTATEs our own SQL functions raise.
inline constexpr std::string_view state_fenced = "AT001";
inline constexpr std::string_view state_wrong_number = "AT002";
inline constexpr std::string_view state_no_such_saga = "AT003";

// What a SQLSTATE means for the caller. Unknown classes are bad_data: one saga is set aside, the store goes on.
errc classify(std::string_view sqlstate) noexcept;

// No such function, table or column, or no right to it: said of a statement of our own, the tables are another version's, and no saga's
// data is to blame.
bool is_of_another_schema(std::string_view sqlstate) noexcept;

// What a SQLSTATE of the user's own statement means, on a connection that still answers: statement_failed where it may pass, else
// bad_data. Never a word about the store: the statement may have raised it by itself, or passed it on from another server.
errc classify_of_user(std::string_view sqlstate) noexcept;

// The connection is of no use after this SQLSTATE, though the client library still calls it open.
bool spoils_connection(std::string_view sqlstate) noexcept;

// One line: "<what>: <the server's words> (SQLSTATE 40001)".
error sql_failure(std::string_view what, std::string_view sqlstate, std::string_view message);

}  // namespace atone::postgres
