// Times and durations as people read them.
// Thread rules: pure functions.
#pragma once

#include <optional>
#include <string>

#include <atone/time.hpp>

namespace atone::cli {

// "840 ms", "1.84 s", "2 min 05 s", "3 h 07 min", "2 d 03 h".
std::string readable(duration span);
// "2026-11-30 13:37:00" in UTC.
std::string readable(timestamp at);
// "12 s ago", "3 h ago".
std::string ago(timestamp at, timestamp now);

}  // namespace atone::cli
