// What a kernel is told: where the store, the plan and the batch lie on the device; and the row of results that a group is at.
#pragma once

#include <cstdint>

#include "cuda/groups.cuh"
#include "device/flat.hpp"
#include "engine/cells.hpp"

namespace atone::features::cuda {

// By value to each kernel.
struct job {
  flat_store store;
  flat_plan plan;
  std::uint32_t time_frames = 0;
  std::uint64_t const* masks = nullptr;  // of each row of the store: bit f says that it passes filter f; null: there is no filter
  decay_table const* decay = nullptr;
  row_request const* requests = nullptr;
  flat_list<flat_result> results;
  std::uint32_t* starts = nullptr;  // a frame's first row: frames × groups
  word* seen = nullptr;             // a table of values a group
  std::uint64_t seen_size = 0;      // of one: a power of two, and one more
};

// Whether every row passes, so that the rows of a window are known without looking at them.
__device__ inline bool every_row_passes(job const& of) {
  return of.masks == nullptr && of.store.known_from == nullptr;
}

// Where a group is.
template <class Group>
struct place {
  job const& of;
  row_request request;
  std::uint32_t row = 0;  // of the results
  std::uint32_t end = 0;  // behind the newest event that had happened
  std::uint32_t* starts = nullptr;
  word* seen = nullptr;

  __device__ place(job const& with, std::uint32_t at) : of(with), request(with.requests[at]), row(at) {
    starts = with.starts + Group::index();
    seen = with.seen + Group::index() * with.seen_size;
  }
  __device__ std::uint32_t& start(std::uint32_t frame) const { return starts[std::uint64_t{frame} * Group::all()]; }

  __device__ bool passes(std::uint32_t event, std::uint32_t filter) const {
    auto const& store = of.store;
    if (store.known_from != nullptr && (store.known_from[event] > request.known_at || store.known_until[event] <= request.known_at))
      return false;
    return of.masks == nullptr || ((of.masks[event] >> filter) & 1) != 0;
  }

  __device__ void put(std::uint32_t column, std::uint32_t lane, cell_value const& value) const {
    auto const& into = of.results.at[column];
    auto const at = std::uint64_t{row} * into.lanes + lane;
    into.cells[at] = value.bits;
    if (into.states != nullptr) into.states[at] = value.state;
  }
  __device__ cell_value get(std::uint32_t column) const {
    auto const& from = of.results.at[column];
    return cell_value{from.cells[row], from.states == nullptr ? cell_state::value : from.states[row]};
  }
};

}  // namespace atone::features::cuda
