#include <atone/yaml/source.hpp>

#include <algorithm>
#include <cstdint>

namespace atone::yaml {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Length of the UTF-8 sequence at `at`, 0 when it is none (overlong forms and surrogates included).
std::size_t sequence_length(std::string_view text, std::size_t at) noexcept {
  auto const byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  auto const first = byte(at);
  if (first < 0x80) return 1;
  std::size_t const length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
  }
  auto const second = byte(at + 1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return length;
}

bool is_forbidden_control(char c) noexcept {
  auto const byte = static_cast<std::uint8_t>(c);
  return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
}

std::size_t first_bad_byte(std::string_view text, std::string& why) {
  for (std::size_t at = 0; at < text.size();) {
    auto const length = sequence_length(text, at);
    if (length == 0) {
      why = "the text is not UTF-8 here";
      return at;
    }
    if (length == 1 && is_forbidden_control(text[at])) {
      why = "a control character stands here (byte " + std::to_string(static_cast<std::uint8_t>(text[at])) + ")";
      return at;
    }
    at += length;
  }
  return text.size();
}

}  // namespace

std::optional<std::string_view> check_source(std::string_view text, report& out) {
  if (text.size() > load_limits::bytes_max) {
    out.mistake(place{}, "",
                "the document has " + std::to_string(text.size()) + " bytes; the most is " + std::to_string(load_limits::bytes_max));
    return std::nullopt;
  }
  if (text.substr(0, byte_order_mark.size()) == byte_order_mark) text.remove_prefix(byte_order_mark.size());
  std::string why;
  auto const bad = first_bad_byte(text, why);
  if (bad != text.size()) {
    out.mistake(place_of(text, bad), "", why + "; expected UTF-8 text");
    return std::nullopt;
  }
  return text;
}

place place_of(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  auto const before = text.substr(0, offset);
  auto const line = 1 + std::count(before.begin(), before.end(), '\n');
  auto const start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  auto const since = before.substr(start);
  auto const characters = std::count_if(since.begin(), since.end(), [](char c) { return (static_cast<std::uint8_t>(c) & 0xC0U) != 0x80U; });
  return place{static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(characters + 1)};
}

std::string_view line_at(std::string_view text, std::size_t offset) noexcept {
  offset = std::min(offset, text.size());
  auto const before = text.substr(0, offset).rfind('\n');
  auto const start = before == std::string_view::npos ? 0 : before + 1;
  auto const end = std::min(text.find_first_of("\r\n", offset), text.size());
  return text.substr(start, end - start);
}

std::size_t skip_properties(std::string_view text, std::size_t offset) noexcept {
  while (offset < text.size()) {
    char const c = text[offset];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++offset;
    } else if (c == '&' || c == '!') {
      while (offset < text.size() && text[offset] != ' ' && text[offset] != '\n' && text[offset] != '\r') ++offset;
    } else {
      break;
    }
  }
  return offset;
}

bool quote_is_closed(std::string_view text, std::size_t offset) noexcept {
  char const quote = text[offset];
  for (std::size_t at = offset + 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
      continue;
    }
    if (text[at] != quote) continue;
    if (quote == '\'' && at + 1 < text.size() && text[at + 1] == '\'') {
      ++at;
      continue;
    }
    return true;
  }
  return false;
}

}  // namespace atone::yaml
