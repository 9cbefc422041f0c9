// Dates as HTTP writes them. Thread rules: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <atone/time.hpp>

namespace atone::http {

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string format_http_date(timestamp at);
// The three forms of RFC 9110: the one above, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994".
std::optional<timestamp> parse_http_date(std::string_view text) noexcept;

}  // namespace atone::http
