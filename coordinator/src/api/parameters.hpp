// Reads what a call carries besides its path; a value that can't be read names its field and what was expected.
// Thread rules: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/ids.hpp>
#include <atone/json.hpp>
#include <atone/result.hpp>
#include <atone/time.hpp>

#include "api/call.hpp"
#include "api/problem.hpp"

namespace atone::api {

template <class T>
using read_result = result<T, problem>;

// The first value of a query parameter; nothing when it is absent.
std::optional<std::string> find_parameter(call const& of, std::string_view name);
// Refuses parameters that are not in `known`: a misspelt filter would otherwise silently list everything.
read_result<bool> check_parameters(call const& of, std::vector<std::string_view> const& known);

read_result<std::uint32_t> read_number(call const& of, std::string_view name, std::uint32_t otherwise, std::uint32_t low,
                                       std::uint32_t high);
// Not above `most`: a longer wait is cut, and the answer says that the saga still runs.
read_result<std::optional<duration>> read_wait(call const& of, std::string_view name, duration most);
read_result<std::optional<timestamp>> read_time(call const& of, std::string_view name);
read_result<std::optional<definition_version>> read_version(call const& of);
read_result<std::optional<saga_id>> read_saga_parameter(call const& of, std::string_view name);
// The n-th part of the path as a saga's id.
read_result<saga_id> read_saga_part(call const& of, std::size_t which);

// The body as a JSON object whose members are all in `known`; an empty body is an empty object.
read_result<json::value> read_object(call const& of, std::vector<std::string_view> const& known);
read_result<std::string> read_text(json::value const& object, std::string_view name);

}  // namespace atone::api
