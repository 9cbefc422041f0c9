// Addresses, without seeing the HTTP library.
// Thread rules: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <atone/result.hpp>

#include "cli/api.hpp"

namespace atone::cli {

// An error where http::parse_origin has one.
result<void> check_url(std::string_view url);
// A GET without anything.
api_request get_request(std::string url, duration timeout);

}  // namespace atone::cli
