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

// The oldest compute capability there is code for: see CMakeLists.txt.
inline constexpr int capability_least = 8;

inline device_status fits(int major, int minor, device_words& why) {
  if (major >= capability_least) return device_status::done;
  std::snprintf(why.text, sizeof why.text,
                "no device that this plug-in is built for: found compute capability %d.%d; expected %d.0 or newer", major, minor,
                capability_least);
  return device_status::unfit;
}

inline constexpr std::size_t device_unit = 256;  // what arrays on the device are aligned to

inline std::size_t aligned(std::size_t bytes) {
  return (bytes + device_unit - 1) / device_unit * device_unit;
}

}  // namespace atone::features::cuda
