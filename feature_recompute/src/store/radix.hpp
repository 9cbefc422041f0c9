// Sorting by an integer key, stable: the dearest part of building a store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atone::features {

// A key and the row it belongs to.
struct keyed_row {
  std::uint64_t key;
  std::uint32_t row;
};

// Sorts by key; rows with equal keys keep their order. Digits that all keys share cost nothing. `spare` is working space.
void radix_sort(std::vector<keyed_row>& rows, std::vector<keyed_row>& spare);

}  // namespace atone::features
