// Which rows of a batch are computed by a thread, a warp or a block each: by how many events may count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/interface.hpp"

namespace atone::features::cuda {

enum class size_class : std::uint8_t { thread = 0, warp = 1, block = 2 };
inline constexpr std::size_t size_classes = 3;

struct class_rows {
  std::vector<std::uint32_t> rows[size_classes];
  std::uint32_t events_most[size_classes] = {};  // of one row

  void sort(row_request const* requests, std::uint32_t count, device_tuning const& by) {
    for (std::size_t one = 0; one < size_classes; ++one) {
      rows[one].clear();
      events_most[one] = 0;
    }
    for (std::uint32_t row = 0; row < count; ++row) {
      auto const events = requests[row].end - requests[row].begin;
      auto const one = events <= by.thread_rows ? size_class::thread : events <= by.warp_rows ? size_class::warp : size_class::block;
      auto const at = static_cast<std::size_t>(one);
      rows[at].push_back(row);
      events_most[at] = std::max(events_most[at], events);
    }
  }
};

}  // namespace atone::features::cuda
