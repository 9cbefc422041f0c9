// The result of an evaluation as JSON.
#pragma once

#include "datum.hpp"

namespace atone::expr {

// What came from outside goes out byte for byte. Errors: larger than bytes_max, or deeper than JSON is accepted.
result<json::value> to_json(datum const& of, std::size_t bytes_max);

}  // namespace atone::expr
