#include "http/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace atone::http {
namespace {

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

constexpr bool is_alphanumeric(char c) noexcept {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9');
}

// Indexed by the byte: each header name of each request is looked at.
constexpr auto token_chars = [] {
  std::array<bool, 256> made{};
  for (int code = 0; code < 128; ++code) made[static_cast<std::size_t>(code)] = is_alphanumeric(static_cast<char>(code));
  for (char const c : std::string_view{"!#$%&'*+-.^_`|~"}) made[static_cast<unsigned char>(c)] = true;
  return made;
}();

constexpr bool is_token_char(char c) noexcept {
  return token_chars[static_cast<unsigned char>(c)];
}

constexpr bool is_control(char c) noexcept {
  auto const code = static_cast<unsigned char>(c);
  return code < 0x20 || code == 0x7f;
}

// Whether one of eight bytes may be a control character; never misses one. The exact test by bytes follows where it says yes.
// Source: S. E. Anderson, "Bit Twiddling Hacks", "Determine if a word has a byte less than n" and "has a zero byte".
bool may_hold_control(char const* eight) noexcept {
  constexpr std::uint64_t each = 0x0101010101010101U;
  constexpr std::uint64_t high = 0x8080808080808080U;
  std::uint64_t word = 0;
  std::memcpy(&word, eight, sizeof word);
  auto const below_space = (word - each * 0x20U) & ~word & high;
  auto const other = word ^ (each * 0x7fU);
  auto const is_delete = (other - each) & ~other & high;
  return (below_space | is_delete) != 0;
}

constexpr std::array phrases{
    std::pair{200, std::string_view{"OK"}},
    std::pair{201, std::string_view{"Created"}},
    std::pair{202, std::string_view{"Accepted"}},
    std::pair{204, std::string_view{"No Content"}},
    std::pair{304, std::string_view{"Not Modified"}},
    std::pair{400, std::string_view{"Bad Request"}},
    std::pair{401, std::string_view{"Unauthorized"}},
    std::pair{403, std::string_view{"Forbidden"}},
    std::pair{404, std::string_view{"Not Found"}},
    std::pair{405, std::string_view{"Method Not Allowed"}},
    std::pair{408, std::string_view{"Request Timeout"}},
    std::pair{409, std::string_view{"Conflict"}},
    std::pair{410, std::string_view{"Gone"}},
    std::pair{413, std::string_view{"Content Too Large"}},
    std::pair{415, std::string_view{"Unsupported Media Type"}},
    std::pair{417, std::string_view{"Expectation Failed"}},
    std::pair{422, std::string_view{"Unprocessable Content"}},
    std::pair{425, std::string_view{"Too Early"}},
    std::pair{429, std::string_view{"Too Many Requests"}},
    std::pair{431, std::string_view{"Request Header Fields Too Large"}},
    std::pair{500, std::string_view{"Internal Server Error"}},
    std::pair{501, std::string_view{"Not Implemented"}},
    std::pair{502, std::string_view{"Bad Gateway"}},
    std::pair{503, std::string_view{"Service Unavailable"}},
    std::pair{504, std::string_view{"Gateway Timeout"}},
    std::pair{505, std::string_view{"HTTP Version Not Supported"}},
};

}  // namespace

bool same_name(std::string_view left, std::string_view right) noexcept {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool is_field_value(std::string_view text) noexcept {
  constexpr std::size_t word = 8;
  while (text.size() >= word && !may_hold_control(text.data())) text.remove_prefix(word);
  return std::none_of(text.begin(), text.end(), [](char c) { return is_control(c) && c != '\t'; });
}

bool is_target(std::string_view text) noexcept {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) { return is_control(c) || c == ' '; });
}

std::string_view reason_phrase(std::int32_t status) noexcept {
  for (auto const& [code, phrase] : phrases) {
    if (code == status) return phrase;
  }
  return "Status";
}

}  // namespace atone::http
