// Who computes one row of results: a thread, a warp or a block. All three have the same words, so that each walk is written once; a state
// that is merged is integers, so that it can't matter who merged what.
#pragma once

#include <cstdint>
#include <cstring>

#include "engine/parts.hpp"

namespace atone::features::cuda {

inline constexpr unsigned warp_threads = 32;
inline constexpr unsigned all_lanes = 0xFFFFFFFFU;
inline constexpr unsigned warps_max = 32;
inline constexpr unsigned state_words_max = 12;

using word = unsigned long long;

// A state as words, which is what travels between threads.
template <class State>
struct state_words {
  static_assert(sizeof(State) % sizeof(word) == 0);
  static constexpr unsigned size = sizeof(State) / sizeof(word);
  static_assert(size <= state_words_max);
  word at[size];

  __device__ static state_words of(State const& state) {
    state_words made;
    memcpy(made.at, &state, sizeof state);
    return made;
  }
  __device__ State state() const {
    State made;
    memcpy(&made, at, sizeof made);
    return made;
  }
};

// A row by one thread.
struct thread_group {
  static constexpr bool alone = true;

  __device__ static std::uint32_t index() { return blockIdx.x * blockDim.x + threadIdx.x; }
  __device__ static std::uint32_t all() { return gridDim.x * blockDim.x; }
  __device__ static std::uint32_t rank() { return 0; }
  __device__ static std::uint32_t size() { return 1; }
  __device__ static void sync() {}
  template <class State>
  __device__ static State reduce(State const& mine) {
    return mine;
  }
};

// A row by the 32 threads of a warp.
struct warp_group {
  static constexpr bool alone = false;

  __device__ static std::uint32_t warps() { return blockDim.x / warp_threads; }
  __device__ static std::uint32_t index() { return blockIdx.x * warps() + threadIdx.x / warp_threads; }
  __device__ static std::uint32_t all() { return gridDim.x * warps(); }
  __device__ static std::uint32_t rank() { return threadIdx.x % warp_threads; }
  __device__ static std::uint32_t size() { return warp_threads; }
  __device__ static void sync() { __syncwarp(all_lanes); }

  // All states merged in the order of the threads; right in the thread of rank 0.
  template <class State>
  __device__ static State reduce(State mine) {
    for (unsigned offset = 1; offset < warp_threads; offset *= 2) {
      auto theirs = state_words<State>::of(mine);
      for (auto& one : theirs.at) one = __shfl_down_sync(all_lanes, one, offset);
      mine.merge(theirs.state());
    }
    return mine;
  }
};

// A row by all threads of a block.
struct block_group {
  static constexpr bool alone = false;

  __device__ static std::uint32_t index() { return blockIdx.x; }
  __device__ static std::uint32_t all() { return gridDim.x; }
  __device__ static std::uint32_t rank() { return threadIdx.x; }
  __device__ static std::uint32_t size() { return blockDim.x; }
  __device__ static void sync() { __syncthreads(); }

  template <class State>
  __device__ static State reduce(State mine) {
    __shared__ word room[warps_max * state_words_max];
    mine = warp_group::reduce(mine);
    auto const warp = threadIdx.x / warp_threads;
    using words = state_words<State>;
    if (warp_group::rank() == 0) {
      auto const out = words::of(mine);
      for (unsigned at = 0; at < words::size; ++at) room[warp * words::size + at] = out.at[at];
    }
    __syncthreads();
    for (unsigned other = 1; threadIdx.x == 0 && other < warp_group::warps(); ++other) {
      words in;
      for (unsigned at = 0; at < words::size; ++at) in.at[at] = room[other * words::size + at];
      mine.merge(in.state());
    }
    __syncthreads();  // the room may be used again
    return mine;
  }
};

// How many threads of the group say yes, and how many of them come before this one.
struct votes {
  std::uint32_t before = 0;
  std::uint32_t total = 0;
};

__device__ inline votes vote(thread_group, bool mine) {
  return votes{0, mine ? 1U : 0U};
}

__device__ inline votes vote(warp_group, bool mine) {
  auto const all = __ballot_sync(all_lanes, mine);
  auto const below = (1U << warp_group::rank()) - 1;
  return votes{static_cast<std::uint32_t>(__popc(all & below)), static_cast<std::uint32_t>(__popc(all))};
}

__device__ inline votes vote(block_group, bool mine) {
  __shared__ std::uint32_t totals[warps_max];
  auto const here = vote(warp_group{}, mine);
  auto const warp = threadIdx.x / warp_threads;
  if (warp_group::rank() == 0) totals[warp] = here.total;
  __syncthreads();
  votes all{here.before, 0};
  for (unsigned other = 0; other < warp_group::warps(); ++other) {
    if (other < warp) all.before += totals[other];
    all.total += totals[other];
  }
  __syncthreads();
  return all;
}

// What the one thread says that says yes; all of the group must ask.
__device__ inline std::uint32_t said_by(thread_group, bool, std::uint32_t value) {
  return value;
}

__device__ inline std::uint32_t said_by(warp_group, bool mine, std::uint32_t value) {
  auto const who = __ffs(static_cast<int>(__ballot_sync(all_lanes, mine))) - 1;
  return __shfl_sync(all_lanes, value, who);
}

__device__ inline std::uint32_t said_by(block_group, bool mine, std::uint32_t value) {
  __shared__ std::uint32_t said;
  if (mine) said = value;
  __syncthreads();
  auto const heard = said;
  __syncthreads();
  return heard;
}

}  // namespace atone::features::cuda
