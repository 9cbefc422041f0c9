#include "cli/terminal.hpp"

#include <array>
#include <cstdint>

namespace atone::cli {
namespace {

std::string_view sequence_of(style how) noexcept {
  switch (how) {
    case style::bold: return "\x1b[1m";
    case style::dim: return "\x1b[2m";
    case style::good: return "\x1b[32m";
    case style::bad: return "\x1b[31m";
    case style::warn: return "\x1b[33m";
    case style::plain: break;
  }
  return "";
}

bool is_continuation(char of) noexcept {
  return (static_cast<unsigned char>(of) & 0xC0U) == 0x80U;
}

std::size_t sequence_length(char first) noexcept {
  auto const byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  if (byte >= 0xF0 && byte < 0xF5) return 4;
  return 0;
}

// Length of the whole UTF-8 character at the front, 0 when there is none.
std::size_t character_length(std::string_view text) noexcept {
  auto const length = sequence_length(text.front());
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t at = 1; at < length; ++at) {
    if (!is_continuation(text[at])) return 0;
  }
  return length;
}

// C0, DEL, and C1 (U+0080 … U+009F, which some terminals obey).
bool is_control(std::string_view character) noexcept {
  auto const first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return character.size() == 2 && first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

void append_escaped(std::string& out, std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  for (char const one : bytes) {
    auto const byte = static_cast<unsigned char>(one);
    out += "\\x";
    out += digits[byte >> 4U];
    out += digits[byte & 0x0FU];
  }
}

// Columns of the text up to `columns`, and the bytes they take.
std::size_t bytes_for(std::string_view text, std::size_t columns) noexcept {
  std::size_t at = 0;
  std::size_t seen = 0;
  while (at < text.size() && seen < columns) {
    ++at;
    while (at < text.size() && is_continuation(text[at])) ++at;
    ++seen;
  }
  return at;
}

std::string visible(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    auto const length = character_length(text);
    auto const piece = text.substr(0, length == 0 ? 1 : length);
    bool const steers = length == 0 || (is_control(piece) && kept.find(piece) == std::string_view::npos);
    if (steers) {
      append_escaped(out, piece);
    } else {
      out += piece;
    }
    text.remove_prefix(piece.size());
  }
  return out;
}

}  // namespace

std::string terminal::paint(style how, std::string_view text) const {
  if (!traits_.colour || how == style::plain || text.empty()) return std::string{text};
  std::string out{sequence_of(how)};
  out += text;
  out += "\x1b[0m";
  return out;
}

std::string printable(std::string_view text) {
  return visible(text, "");
}
std::string printable_lines(std::string_view text) {
  return visible(text, "\n\t");
}

std::size_t display_width(std::string_view text) noexcept {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      while (at < text.size() && text[at] != 'm') ++at;
    } else if (!is_continuation(text[at])) {
      ++columns;
    }
  }
  return columns;
}

std::string padded(std::string_view text, std::size_t columns) {
  std::string out{text};
  auto const width = display_width(text);
  if (width < columns) out.append(columns - width, ' ');
  return out;
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string{text};
  if (columns == 0) return "";
  return std::string{text.substr(0, bytes_for(text, columns - 1))} + "…";
}

}  // namespace atone::cli
