#include <atone/ids.hpp>

#include <algorithm>

namespace atone {
namespace {

constexpr std::string_view base32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::string_view base16 = "0123456789abcdef";

int base32_value(char character) noexcept {
  char const upper = character >= 'a' && character <= 'z' ? static_cast<char>(character - 'a' + 'A') : character;
  auto const at = base32.find(upper);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

template <std::size_t N>
std::string to_hex(std::array<std::uint8_t, N> const& bytes, std::size_t count = N) {
  std::string text(count * 2, '0');
  for (std::size_t at = 0; at < count; ++at) {
    text[2 * at] = base16[bytes[at] >> 4];
    text[2 * at + 1] = base16[bytes[at] & 15];
  }
  return text;
}

}  // namespace

// 26 characters of 5 bits carry 130 bits: the two highest are zero, so the first character is at most '7'.
std::array<char, saga_id::text_size> saga_id::characters() const noexcept {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  for (std::size_t byte = 0; byte < 8; ++byte) {
    high = high << 8 | bytes_[byte];
    low = low << 8 | bytes_[byte + 8];
  }
  std::array<char, text_size> text{};
  for (std::size_t at = text_size; at-- > 0;) {
    text[at] = base32[low & 31];
    low = low >> 5 | high << 59;
    high >>= 5;
  }
  return text;
}

std::string saga_id::text() const {
  auto const made = characters();
  return {made.data(), made.size()};
}

std::optional<saga_id> saga_id::parse(std::string_view text) noexcept {
  if (text.size() != text_size || base32_value(text[0]) > 7) return std::nullopt;
  bytes parsed{};
  unsigned carried = 0;
  int bits = 0;
  std::size_t byte = parsed.size();
  for (std::size_t at = text_size; at-- > 0;) {
    int const value = base32_value(text[at]);
    if (value < 0) return std::nullopt;
    carried |= static_cast<unsigned>(value) << bits;
    bits += 5;
    if (bits >= 8 && byte > 0) {
      parsed[--byte] = static_cast<std::uint8_t>(carried & 255);
      carried >>= 8;
      bits -= 8;
    }
  }
  return saga_id{parsed};
}

std::string content_hash::text() const {
  return to_hex(bytes_);
}

std::optional<content_hash> content_hash::parse(std::string_view hex) noexcept {
  bytes parsed{};
  if (hex.size() != parsed.size() * 2) return std::nullopt;
  for (std::size_t at = 0; at < hex.size(); ++at) {
    auto const digit = base16.find(hex[at]);
    if (digit == std::string_view::npos) return std::nullopt;
    parsed[at / 2] = static_cast<std::uint8_t>(parsed[at / 2] << 4 | digit);
  }
  return content_hash{parsed};
}

trace_id trace_id::of(saga_id saga, step_path const& step, operation op) {
  auto const word = name(op);
  std::string named;
  named.reserve(saga_id::text_size + step.text().size() + word.size() + 2);
  named.append(saga.characters().data(), saga_id::text_size);
  named += '\n';
  named += step.text();
  named += '\n';
  named += word;
  return trace_id{to_hex(content_hash::of(named).value(), 16)};
}

}  // namespace atone
