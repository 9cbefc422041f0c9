// Percent-encoding of RFC 3986. Thread rules: functions are pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace atone {

// Letters, digits and "-._~": what stands for itself anywhere in a URL.
bool is_unreserved(char character) noexcept;

// `text` as one segment of a path, or one name or value of a query: every byte but the unreserved ones (letters, digits, "-._~") as %XX.
std::string percent_encode(std::string_view text);
// The other way; nothing: a broken escape. '+' stays '+'.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace atone
