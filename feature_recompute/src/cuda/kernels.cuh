// The kernels.
#pragma once

#include "cuda/walks.cuh"

namespace atone::features::cuda {

__device__ inline bool satisfies(job const& of, flat_condition const& with, std::uint32_t row) {
  auto const& column = of.store.columns.at[with.column];
  if (column.nulls != nullptr && column.nulls[row] != 0) return false;
  auto const value = column.values[row];
  if (with.is_range) return value >= with.least && value <= with.most;
  auto const* const numbers = of.plan.numbers.at;
  auto begin = with.first_number;
  auto end = with.end_number;
  while (begin < end) {
    auto const middle = begin + (end - begin) / 2;
    if (numbers[middle] == value) return true;
    if (numbers[middle] < value) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return false;
}

// Which filters each row of the store passes; who may know of it is another matter.
__global__ void fill_masks(job of, std::uint64_t* masks) {
  for (std::uint64_t row = blockIdx.x * blockDim.x + threadIdx.x; row < of.store.rows; row += std::uint64_t{gridDim.x} * blockDim.x) {
    std::uint64_t mask = 0;
    for (std::uint32_t filter = 0; filter < of.plan.filters.size; ++filter) {
      auto const& all = of.plan.filters.at[filter];
      bool passes = true;
      for (auto at = all.first_condition; passes && at < all.end_condition; ++at) {
        passes = satisfies(of, of.plan.conditions.at[at], static_cast<std::uint32_t>(row));
      }
      if (passes) mask |= std::uint64_t{1} << filter;
    }
    masks[row] = mask;
  }
}

// Rows of results by groups of one size: `rows` names them.
template <class Group>
__global__ void compute_rows(job of, std::uint32_t const* rows, std::uint32_t count) {
  for (auto at = Group::index(); at < count; at += Group::all()) {
    place<Group> here{of, rows[at]};
    find_frames(here);
    for (std::uint32_t with = 0; with < of.plan.walks.size; ++with) run_walk(here, of.plan.walks.at[with]);
    // Ratios are made from what others have written; and nobody looks at this row's frames any more.
    Group::sync();
    for (auto ratio = Group::rank(); ratio < of.plan.quotients.size; ratio += Group::size()) {
      auto const& one = of.plan.quotients.at[ratio];
      here.put(one.column, 0, quotient_cell(here.get(one.upper), here.get(one.lower)));
    }
  }
}

}  // namespace atone::features::cuda
