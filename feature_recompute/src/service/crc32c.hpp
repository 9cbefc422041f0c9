// CRC-32C (Castagnoli): finds what a crash or a disk has changed. Thread rules: pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace atone::features {

// Of `bytes` behind what gave `before`; 0 at the beginning.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0) noexcept;

}  // namespace atone::features
