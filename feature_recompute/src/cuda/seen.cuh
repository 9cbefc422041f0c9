// Which values a walk has met. One thread with few rows compares each with the newer ones; more threads share an open table, into which a
// value goes once whoever comes first, so that the number of values can't depend on who did.
#pragma once

#include "cuda/job.cuh"

namespace atone::features::cuda {

inline constexpr word no_entry = 0x8000000000000001ULL;  // a value like any other: it has a place of its own behind the table

__device__ inline std::uint64_t spread_bits(word value) {
  auto const mixed = value * 0x9E3779B97F4A7C15ULL;
  return mixed ^ (mixed >> 32);
}

// At least two places for each of `rows`; a power of two. Zero rows need one.
__host__ __device__ inline std::uint64_t seen_places(std::uint64_t rows) {
  std::uint64_t places = 1;
  while (places < 2 * rows) places *= 2;
  return places;
}

template <class Group>
class seen_values {
 public:
  __device__ seen_values(place<Group> const& here, walk const& with) : table_(here.seen) {
    values_ = here.of.store.columns.at[with.column].values;
    // Walks before this one have met where they ended: nobody looks into the table any more.
    auto const widest = here.start(here.of.plan.stops.at[with.end_stop - 1].frame);
    places_ = seen_places(here.end - widest);
    for (std::uint64_t at = Group::rank(); at < places_; at += Group::size()) table_[at] = no_entry;
    if (Group::rank() == 0) table_[places_] = 0;  // of the value that is no_entry: not met
    Group::sync();
  }

  __device__ bool is_new(std::uint32_t event) {
    auto const value = static_cast<word>(values_[event]);
    if (value == no_entry) return atomicExch(table_ + places_, word{1}) == 0;
    for (auto at = spread_bits(value) & (places_ - 1);; at = (at + 1) & (places_ - 1)) {
      auto const found = atomicCAS(table_ + at, no_entry, value);
      if (found == no_entry) return true;
      if (found == value) return false;
    }
  }

 private:
  std::int64_t const* values_;
  word* table_;
  std::uint64_t places_;
};

template <>
class seen_values<thread_group> {
 public:
  __device__ seen_values(place<thread_group> const& here, walk const& with) : here_(here), with_(with) {
    auto const& column = here.of.store.columns.at[with.column];
    values_ = column.values;
    nulls_ = column.nulls_count ? column.nulls : nullptr;
  }

  __device__ bool is_new(std::uint32_t event) const {
    for (auto newer = event + 1; newer < here_.end; ++newer) {
      bool const same = values_[newer] == values_[event] && (nulls_ == nullptr || nulls_[newer] == 0);
      if (same && here_.passes(newer, with_.filter)) return false;
    }
    return true;
  }

 private:
  place<thread_group> const& here_;
  walk const& with_;
  std::int64_t const* values_;
  std::uint8_t const* nulls_;
};

}  // namespace atone::features::cuda
