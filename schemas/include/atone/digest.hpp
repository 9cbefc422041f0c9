// Keyed digests. Plain SHA-256 is content_hash::of (ids.hpp).
#pragma once

#include <string>
#include <string_view>

namespace atone {

// HMAC-SHA256 as 64 hex digits.
std::string hmac_sha256(std::string_view key, std::string_view message);

}  // namespace atone
