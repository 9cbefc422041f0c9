// Many small arrays in one copy to the device: packed here, then told where they came to lie.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "device/flat.hpp"

namespace atone::features::cuda {

class packed {
 public:
  // Where in the packed bytes it lies.
  template <class T>
  std::size_t add(T const* from, std::size_t size) {
    constexpr std::size_t unit = 16;
    auto const begin = (bytes_.size() + unit - 1) / unit * unit;
    bytes_.resize(begin + size * sizeof(T));
    if (size > 0) std::memcpy(bytes_.data() + begin, from, size * sizeof(T));
    return begin;
  }
  template <class T>
  std::size_t add(flat_list<T> const& from) {
    return add(from.at, from.size);
  }
  void clear() { bytes_.clear(); }
  std::size_t size() const { return bytes_.size(); }
  unsigned char const* data() const { return bytes_.data(); }

  template <class T>
  static flat_list<T> placed(void* base, std::size_t at, std::uint32_t size) {
    return flat_list<T>{reinterpret_cast<T const*>(static_cast<unsigned char*>(base) + at), size};
  }

 private:
  std::vector<unsigned char> bytes_;
};

}  // namespace atone::features::cuda
