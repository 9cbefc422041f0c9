// Between JSON and a SQL statement: parameters in, the answer out. Thread rules: plain functions.
#pragma once

#include <pqxx/pqxx>
#include <string>
#include <string_view>
#include <vector>

#include <atone/result.hpp>

#include "postgres/session.hpp"

namespace atone::postgres {

// The values of `names` from a JSON object, as the server reads text: strings decoded, numbers and booleans as written,
// null as NULL, objects and arrays as JSON. Errors: bad_data (no object; a name without a value).
result<std::vector<text_parameter>> parameter_values(std::vector<std::string> const& names, std::string_view json_object);

// {"rows": affected or returned, "row": first row or null}. Numbers keep their digits, json columns stay as they are.
std::string answer_json(pqxx::result const& rows);

}  // namespace atone::postgres
