// Words for what goes wrong.
#pragma once

#include <cstdio>

#include "device/interface.hpp"

namespace atone::features::cuda {

// The device is as good as before: another engine can do the job.
inline device_status refuse(device_words& why, char const* what, std::uint64_t bytes = 0) {
  if (bytes == 0) {
    std::snprintf(why.text, sizeof why.text, "%s", what);
  } else {
    std::snprintf(why.text, sizeof why.text, "%s (%llu bytes)", what, static_cast<unsigned long long>(bytes));
  }
  return device_status::refused;
}

inline constexpr std::size_t device_unit = 256;  // what arrays on the device are aligned to

inline std::size_t aligned(std::size_t bytes) {
  return (bytes + device_unit - 1) / device_unit * device_unit;
}

}  // namespace atone::features::cuda
