// ":user" in a user's statement to "$1": PostgreSQL knows numbered parameters only. Thread rules: plain functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <atone/result.hpp>

namespace atone::postgres {

struct numbered_statement {
  std::string text;                // with $1, $2 …
  std::vector<std::string> names;  // the name behind each number; a name used twice has one number

  numbered_statement() = default;
};

// Names in strings, quoted names, dollar quotes and comments are text; `a::int` is a cast and `a[1:n]` a slice.
// Errors: bad_data for a quote or comment that does not end, and for statements that would end the transaction.
result<numbered_statement> number_parameters(std::string_view statement);

// Whether a statement begins with a word that begins or ends a transaction, or changes the session. Errors: bad_data.
result<void> check_no_transaction_control(std::string_view statement);

}  // namespace atone::postgres
