#include <atone/utf8.hpp>

#include <cstdint>
#include <cstring>

namespace atone {
namespace {

constexpr unsigned char byte_at(std::string_view text, std::size_t at) noexcept {
  return static_cast<unsigned char>(text[at]);
}

constexpr bool continues(std::string_view text, std::size_t at) noexcept {
  return at < text.size() && (byte_at(text, at) & 0xC0) == 0x80;
}

// The second byte has a narrower range after some first bytes: this is what keeps overlong forms and surrogates out.
constexpr bool second_fits(unsigned char first, unsigned char second) noexcept {
  switch (first) {
    case 0xE0: return second >= 0xA0;
    case 0xED: return second <= 0x9F;
    case 0xF0: return second >= 0x90;
    case 0xF4: return second <= 0x8F;
    default: return true;
  }
}

// ASCII from `at` on, eight bytes at a time; may stop up to seven bytes short.
std::size_t ascii_run(std::string_view text, std::size_t at) noexcept {
  auto const from = at;
  for (std::uint64_t eight = 0; at + sizeof eight <= text.size(); at += sizeof eight) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & 0x8080808080808080U) != 0) break;
  }
  return at - from;
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) noexcept {
  if (at >= text.size()) return 0;
  auto const first = byte_at(text, at);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !continues(text, at + 1) || !second_fits(first, byte_at(text, at + 1))) return 0;
  if (first < 0xE0) return 2;
  if (!continues(text, at + 2)) return 0;
  if (first < 0xF0) return 3;
  return continues(text, at + 3) ? 4 : 0;
}

std::size_t find_bad_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    at += ascii_run(text, at);
    if (at >= text.size()) break;
    auto const length = utf8_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

void append_utf8(std::string& out, char32_t character) {
  auto const put = [&out](char32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xC0 | character >> 6);
    put(0x80 | (character & 0x3F));
  } else if (character < 0x10000) {
    put(0xE0 | character >> 12);
    put(0x80 | (character >> 6 & 0x3F));
    put(0x80 | (character & 0x3F));
  } else {
    put(0xF0 | character >> 18);
    put(0x80 | (character >> 12 & 0x3F));
    put(0x80 | (character >> 6 & 0x3F));
    put(0x80 | (character & 0x3F));
  }
}

std::string clean_text(std::string_view text) {
  if (find_bad_utf8(text) == std::string_view::npos && text.find('\0') == std::string_view::npos) return std::string{text};
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    auto const length = text[at] == '\0' ? 0 : utf8_length(text, at);
    if (length == 0) {
      append_utf8(clean, U'\uFFFD');
      ++at;
      continue;
    }
    clean.append(text.substr(at, length));
    at += length;
  }
  return clean;
}

}  // namespace atone
