// The small grammar of HTTP text: tokens, names without case, reason phrases. Thread rules: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace atone::http {

// Names of header fields compare without case, in ASCII only.
bool same_name(std::string_view left, std::string_view right) noexcept;
// RFC 9110 token: a method or a field name.
bool is_token(std::string_view text) noexcept;
// What may stand in a field value: no control characters but tab (they would let a value write headers of its own).
bool is_field_value(std::string_view text) noexcept;
// What may stand in a request line as target: visible characters only.
bool is_target(std::string_view text) noexcept;
std::string_view reason_phrase(std::int32_t status) noexcept;

}  // namespace atone::http
