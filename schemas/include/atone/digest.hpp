// Keyed digests. Plain SHA-256 is content_hash::of (ids.hpp).
// Thread rules: functions are pure.
#pragma once

#include <string>
#include <string_view>

namespace atone {

// HMAC-SHA256 as 64 lower-case hex digits. Who compares one with what came from outside compares in constant time.
std::string hmac_sha256(std::string_view key, std::string_view message);

}  // namespace atone
