// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
// Thread rules: functions are pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace atone {

// Bytes of the well-formed character that begins at `at`, 1 to 4; 0 when there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) noexcept;

// Where the first malformed byte stands; npos when the text is well formed.
std::size_t find_bad_utf8(std::string_view text) noexcept;

// Text from outside as people may see it and every store takes it: each byte that is not UTF-8, and NUL, becomes U+FFFD.
std::string clean_text(std::string_view text);

// `character` must be a Unicode scalar value (no surrogate, at most U+10FFFF): it is not checked.
void append_utf8(std::string& out, char32_t character);

}  // namespace atone
