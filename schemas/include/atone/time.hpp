// Time as all parts speak it. Only durations and the database's clock decide anything: a `timestamp` is database time.
// Thread rules: functions are pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <atone/result.hpp>

namespace atone {

using duration = std::chrono::microseconds;

// Microseconds since 1970-01-01T00:00:00Z by the database's clock.
using timestamp = std::chrono::time_point<std::chrono::system_clock, duration>;

// Longest duration a definition may name: 10 years.
inline constexpr duration duration_max = std::chrono::hours{24 * 3653};

// "250ms", "15m", "24h", "7d" (units us, ms, s, m, h, d; one whole decimal number; zero only as "0s"), at most
// duration_max. Errors (invalid_argument) say what was expected.
result<duration> parse_duration(std::string_view text);
// The shortest exact form: "1500ms", "15m".
std::string format_duration(duration value);

// RFC 3339 in UTC with six decimals: "2026-11-30T13:37:00.000000Z".
std::string format_timestamp(timestamp at);
// That form, with one to six decimals or none; anything else, another zone too, is nothing.
std::optional<timestamp> parse_timestamp(std::string_view text);

}  // namespace atone
