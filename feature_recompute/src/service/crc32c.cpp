#include "service/crc32c.hpp"

#include <array>

namespace atone::features {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // reversed
constexpr std::size_t steps = 8;                  // bytes a turn

using table_set = std::array<std::array<std::uint32_t, 256>, steps>;

constexpr table_set make_tables() {
  table_set made{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    auto value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
    made[0][byte] = value;
  }
  for (std::size_t step = 1; step < steps; ++step) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      auto const before = made[step - 1][byte];
      made[step][byte] = (before >> 8) ^ made[0][before & 0xFF];
    }
  }
  return made;
}

constexpr table_set tables = make_tables();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<unsigned char>(bytes[at]);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) noexcept {
  auto value = ~before;
  std::size_t at = 0;
  for (; at + steps <= bytes.size(); at += steps) {
    auto const low =
        value ^ (byte_at(bytes, at) | byte_at(bytes, at + 1) << 8 | byte_at(bytes, at + 2) << 16 | byte_at(bytes, at + 3) << 24);
    value = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^ tables[4][low >> 24] ^
            tables[3][byte_at(bytes, at + 4)] ^ tables[2][byte_at(bytes, at + 5)] ^ tables[1][byte_at(bytes, at + 6)] ^
            tables[0][byte_at(bytes, at + 7)];
  }
  for (; at < bytes.size(); ++at) value = (value >> 8) ^ tables[0][(value ^ byte_at(bytes, at)) & 0xFF];
  return ~value;
}

}  // namespace atone::features
