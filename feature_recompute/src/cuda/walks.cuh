// The walks of a plan over the events of one row of results: states grow in each thread, are merged where a window begins, and the thread
// of rank 0 writes what comes of them.
#pragma once

#include "cuda/frames.cuh"
#include "cuda/seen.cuh"

namespace atone::features::cuda {

// `per_row(event, counts)` for each event of the widest window, newest first, by every thread of the group equally often, and
// `reached(stop)` where a window begins.
template <class Group, class PerRow, class Reached>
__device__ void go(place<Group> const& here, walk const& with, PerRow const& per_row, Reached const& reached) {
  auto const* nulls = with.column == no_column ? nullptr : here.of.store.columns.at[with.column].nulls;
  if (nulls != nullptr && !here.of.store.columns.at[with.column].nulls_count) nulls = nullptr;
  auto row = here.end;
  for (auto at = with.first_stop; at < with.end_stop; ++at) {
    auto const until = here.start(here.of.plan.stops.at[at].frame);
    while (row > until) {
      auto const left = row - until;
      auto const tile = left < Group::size() ? left : Group::size();
      auto const event = row - 1 - Group::rank();
      bool const counts = Group::rank() < tile && here.passes(event, with.filter) && (nulls == nullptr || nulls[event] == 0);
      per_row(event, counts);
      row -= tile;
    }
    reached(here.of.plan.stops.at[at]);
  }
}

// What all threads have gathered, to the sinks of a stop: `cell_of(sink, state)`.
template <class Group, class State, class CellOf>
__device__ void settle(place<Group> const& here, stop const& at, State const& mine, CellOf const& cell_of) {
  auto const all = Group::reduce(mine);
  if (Group::rank() != 0) return;
  for (auto to = at.first_sink; to < at.end_sink; ++to) {
    auto const& sink = here.of.plan.sinks.at[to];
    here.put(sink.column, 0, cell_of(sink, all));
  }
}

// Number and newest of events that all pass: nothing to look at.
template <class Group>
__device__ void count_events(place<Group> const& here, walk const& with) {
  for (auto at = with.first_stop + Group::rank(); at < with.end_stop; at += Group::size()) {
    auto const& stop = here.of.plan.stops.at[at];
    occurrences all;
    all.count = here.end - here.start(stop.frame);
    if (all.count > 0) all.newest = here.of.store.times[here.end - 1];
    for (auto to = stop.first_sink; to < stop.end_sink; ++to) {
      auto const& sink = here.of.plan.sinks.at[to];
      here.put(sink.column, 0, occurrence_cell(sink.what, all, here.request.as_of));
    }
  }
}

// Occurrences of threads that took turns: without intervals.
struct scattered_occurrences {
  occurrences of;
  __device__ void merge(scattered_occurrences const& other) { of.merge_scattered(other.of); }
};

template <class Group>
__device__ void walk_events(place<Group> const& here, walk const& with) {
  auto const* times = here.of.store.times;
  auto const as_of = here.request.as_of;
  if (!with.gaps) {
    scattered_occurrences mine;
    go(
        here, with,
        [&](std::uint32_t event, bool counts) {
          if (counts) mine.of.add(times[event]);
        },
        [&](stop const& at) {
          settle(here, at, mine, [&](sink const& to, scattered_occurrences const& all) { return occurrence_cell(to.what, all.of, as_of); });
        });
    return;
  }
  // Neighbours must meet: the threads' events are merged in their order, a tile at a time.
  occurrences all;
  go(
      here, with,
      [&](std::uint32_t event, bool counts) {
        occurrences one;
        if (counts) one.add(times[event]);
        all.merge(Group::reduce(one));  // right in rank 0
      },
      [&](stop const& at) {
        for (auto to = at.first_sink; Group::rank() == 0 && to < at.end_sink; ++to) {
          auto const& sink = here.of.plan.sinks.at[to];
          here.put(sink.column, 0, occurrence_cell(sink.what, all, as_of));
        }
      });
}

template <class Group>
__device__ void walk_moments(place<Group> const& here, walk const& with) {
  auto const* values = here.of.store.columns.at[with.column].values;
  bool const squares = with.squares;
  moments mine;
  go(
      here, with,
      [&](std::uint32_t event, bool counts) {
        if (!counts) return;
        squares ? mine.add(values[event]) : mine.add_without_squares(values[event]);
      },
      [&](stop const& at) { settle(here, at, mine, [](sink const& to, moments const& all) { return moments_cell(to, all); }); });
}

template <class Group>
__device__ void walk_decay(place<Group> const& here, walk const& with) {
  auto const* values = with.column == no_column ? nullptr : here.of.store.columns.at[with.column].values;
  auto const* times = here.of.store.times;
  decayed mine;
  go(
      here, with,
      [&](std::uint32_t event, bool counts) {
        if (!counts) return;
        auto const age = static_cast<std::uint64_t>(here.request.as_of - times[event]);
        mine.add(values == nullptr ? 1 : values[event], with.rate.weight(age, *here.of.decay));
      },
      [&](stop const& at) { settle(here, at, mine, [](sink const& to, decayed const& all) { return real_cell(all.value(to.scale)); }); });
}

struct tally {
  std::int64_t count = 0;
  __device__ void merge(tally const& other) { count += other.count; }
};

template <class Group>
__device__ void walk_distinct(place<Group> const& here, walk const& with) {
  seen_values<Group> seen{here, with};
  tally mine;
  go(
      here, with,
      [&](std::uint32_t event, bool counts) {
        if (counts && seen.is_new(event)) ++mine.count;
      },
      [&](stop const& at) { settle(here, at, mine, [](sink const&, tally const& all) { return cell_value{all.count}; }); });
}

// The oldest event that counted.
struct oldest_event {
  std::uint64_t at = UINT64_MAX;
  __device__ void merge(oldest_event const& other) { at = other.at < at ? other.at : at; }
};

// A value that is the `back`-th newest stands in every window from here on.
template <class Group>
__device__ void put_newest(place<Group> const& here, walk const& with, std::uint32_t from_stop, std::uint32_t back, std::int64_t value) {
  for (auto at = from_stop; at < with.end_stop; ++at) {
    auto const& stop = here.of.plan.stops.at[at];
    for (auto to = stop.first_sink; to < stop.end_sink; ++to) {
      auto const& sink = here.of.plan.sinks.at[to];
      bool const wants = sink.what != aggregation::first && back < here.of.results.at[sink.column].lanes;
      if (wants) here.put(sink.column, back, cell_value{value});
    }
  }
}

// What a window of `count` values leaves open: nulls behind them, and the oldest of them.
template <class Group>
__device__ void settle_picks(place<Group> const& here, stop const& at, std::uint32_t count, std::int64_t oldest) {
  for (auto to = at.first_sink; to < at.end_sink; ++to) {
    auto const& sink = here.of.plan.sinks.at[to];
    if (sink.what == aggregation::first && count > 0) {
      here.put(sink.column, 0, cell_value{oldest});
      continue;
    }
    for (auto lane = count; lane < here.of.results.at[sink.column].lanes; ++lane) here.put(sink.column, lane, no_value(cell_state::null));
  }
}

template <class Group>
__device__ void walk_picks(place<Group> const& here, walk const& with) {
  auto const* values = here.of.store.columns.at[with.column].values;
  auto current = with.first_stop;
  std::uint32_t count = 0;
  oldest_event mine;
  go(
      here, with,
      [&](std::uint32_t event, bool counts) {
        auto const all = vote(Group{}, counts);
        auto const back = count + all.before;
        count += all.total;
        if (!counts) return;
        mine.at = event;
        if (back < with.keep) put_newest(here, with, current, back, values[event]);
      },
      [&](stop const& at) {
        auto const oldest = Group::reduce(mine);
        if (Group::rank() == 0) settle_picks(here, at, count, count == 0 ? 0 : values[oldest.at]);
        ++current;
      });
}

template <class Group>
__device__ void run_walk(place<Group> const& here, walk const& with) {
  bool const is_known = every_row_passes(here.of) && with.column == no_column && with.no_intervals;
  switch (with.kind) {
    case walk_kind::events: return is_known ? count_events(here, with) : walk_events(here, with);
    case walk_kind::moments: return walk_moments(here, with);
    case walk_kind::distinct: return walk_distinct(here, with);
    case walk_kind::picks: return walk_picks(here, with);
    case walk_kind::decay: return walk_decay(here, with);
  }
}

}  // namespace atone::features::cuda
