// Where the windows of a row of results begin.
#pragma once

#include "cuda/job.cuh"

namespace atone::features::cuda {

// The first row later than `time`.
__device__ inline std::uint32_t first_after(std::int64_t const* times, std::uint32_t begin, std::uint32_t end, std::int64_t time) {
  while (begin < end) {
    auto const middle = begin + (end - begin) / 2;
    if (times[middle] > time) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return end;
}

// Where the newest rows that pass begin; the group looks at as many rows at a time as it has threads.
template <class Group>
__device__ std::uint32_t start_of_newest(place<Group> const& here, flat_frame const& frame) {
  auto const begin = here.request.begin;
  auto row = here.end;
  if (every_row_passes(here.of)) return row - begin <= frame.rows ? begin : row - static_cast<std::uint32_t>(frame.rows);
  auto wanted = frame.rows;
  while (row > begin) {
    auto const left = row - begin;
    auto const tile = left < Group::size() ? left : Group::size();
    bool const counts = Group::rank() < tile && here.passes(row - 1 - Group::rank(), frame.filter);
    auto const all = vote(Group{}, counts);
    if (all.total >= wanted) return said_by(Group{}, counts && all.before + 1 == wanted, row - 1 - Group::rank());
    wanted -= all.total;
    row -= tile;
  }
  return begin;
}

template <class Group>
__device__ void find_frames(place<Group>& here) {
  auto const& of = here.of;
  auto const* times = of.store.times;
  auto const begin = here.request.begin;
  auto const as_of = here.request.as_of;
  here.end = here.request.end;
  if (here.end > begin && times[here.end - 1] > as_of) here.end = first_after(times, begin, here.end, as_of);
  for (auto frame = Group::rank(); frame < of.time_frames; frame += Group::size()) {
    auto const length = of.plan.frames.at[frame].length;
    here.start(frame) = length == 0 ? begin : first_after(times, begin, here.end, as_of - length);
  }
  for (auto frame = of.time_frames; frame < of.plan.frames.size; ++frame) {
    auto const start = start_of_newest(here, of.plan.frames.at[frame]);
    if (Group::rank() == 0) here.start(frame) = start;
  }
  Group::sync();
}

}  // namespace atone::features::cuda
