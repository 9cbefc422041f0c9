#include "engine/walker.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace atone::features {
namespace {

constexpr decay_table table{};
// Rows up to which looking at each is quicker than searching.
constexpr std::uint32_t scanned_max = 48;
// Rows up to which comparing each with each is quicker than remembering what was seen.
constexpr std::uint32_t few_rows = 12;

// Where the window of the newest rows begins: the first row later than `time`.
inline std::uint32_t first_after(std::int64_t const* times, std::uint32_t begin, std::uint32_t end, std::int64_t time) {
  if (end - begin > scanned_max) return static_cast<std::uint32_t>(std::upper_bound(times + begin, times + end, time) - times);
  while (end > begin && times[end - 1] > time) --end;
  return end;
}

}  // namespace

walker::walker(feature_set const& set, feature_plan const& plan, event_store const& store, bound_filters const& filters,
               feature_table& into)
    : set_(set),
      plan_(plan),
      store_(store),
      filters_(filters),
      begins_(block_rows),
      ends_(block_rows),
      as_of_(block_rows),
      mask_at_(block_rows),
      starts_(plan.frames() * block_rows) {
  for (auto const& one : plan.walks) {
    bound_walk bound;
    bound.plan = &one;
    if (one.column != no_column && !store.columns.empty()) {
      auto const& nulls = store.columns[one.column].nulls;
      bound.values = values_of(set, store, one.column);
      if (bound.values == store.columns[one.column].values.data() && !nulls.empty()) bound.nulls = nulls.data();
    }
    walks_.push_back(bound);
  }
  for (auto& one : into.columns) {
    cells_.push_back(one.cells.get());
    states_.push_back(one.states.get());
    lanes_.push_back(one.lanes);
  }
  for (auto const& one : plan.time_frames) {
    lengths_.push_back(set.windows[one.window].kind == window_kind::ever ? 0 : set.windows[one.window].length.count());
  }
}

void walker::column_at::fill(std::size_t count, cell_state with) const {
  std::fill_n(cells, count, 0);
  if (states != nullptr) std::fill_n(states, count, with);
}

walker::column_at walker::column(std::uint32_t of) const {
  column_at made;
  made.cells = cells_[of] + row_;
  if (states_[of] != nullptr) made.states = states_[of] + row_;
  return made;
}

void walker::begin(std::size_t first_row) {
  row_ = first_row;
  size_ = 0;
  masks_.clear();
}

void walker::add(row_request const& request) {
  find_frames(request);
  ++size_;
  if (size_ == block_rows || masks_.size() > block_events) finish();
}

void walker::finish() {
  for (auto const& with : walks_) run(with);
  for (auto const& of : plan_.quotients) write_quotient(of);
  begin(row_ + size_);
}

std::uint32_t walker::newest_of_filter(std::uint32_t begin, std::uint32_t end, std::uint32_t filter, std::int64_t rows) const {
  if (!filters_.any()) return end - begin <= rows ? begin : end - static_cast<std::uint32_t>(rows);
  while (end > begin && rows > 0) {
    --end;
    if (passes(size_, end, filter)) --rows;
  }
  return end;
}

void walker::find_frames(row_request const& request) {
  auto const* times = store_.times.data();
  auto const begin = request.begin;
  auto end = request.end;
  if (end > begin && times[end - 1] > request.as_of) end = first_after(times, begin, end, request.as_of);
  begins_[size_] = begin;
  ends_[size_] = end;
  as_of_[size_] = request.as_of;
  auto start = end;
  auto* into = starts_.data() + size_;
  for (auto const length : lengths_) {
    if (length == 0) {
      start = begin;
    } else if (start > begin && times[start - 1] > request.as_of - length) {
      start = first_after(times, begin, start - 1, request.as_of - length);
    }
    *into = start;
    into += block_rows;
  }
  mask_at_[size_] = masks_.size();
  if (filters_.any()) filters_.append(begin, end, request.known_at, masks_);
  for (auto const& frame : plan_.row_frames) {
    *into = newest_of_filter(begin, end, frame.filter, set_.windows[frame.window].rows);
    into += block_rows;
  }
}

void walker::run(bound_walk const& with) {
  // Where every row passes, the rows of a window are known without looking at them.
  bool const all_pass = !filters_.any() && with.nulls == nullptr;
  switch (with.plan->kind) {
    case walk_kind::events: return all_pass && with.plan->no_intervals ? count_events(with) : walk_events(with);
    case walk_kind::moments: return walk_moments(with);
    case walk_kind::distinct: return walk_distinct(with);
    case walk_kind::picks: return all_pass ? pick_rows(with) : walk_picks(with);
    case walk_kind::decay: return walk_decay(with);
  }
}

// For each row `from` … `to` of the block: `fresh()`, then `add(at, row)` for each event, newest first, and `reached(stop, at)` where a
// window begins.
template <bool masked, bool nullable, class Fresh, class Add, class Stop>
void walker::go_as(bound_walk const& with, std::size_t from, std::size_t to, Fresh const& fresh, Add const& add, Stop const& reached) {
  auto const first = with.plan->first_stop;
  auto const stops = with.plan->end_stop - first;
  for (auto at = from; at < to; ++at) {
    fresh();
    auto row = ends_[at];
    for (std::uint32_t here = 0; here < stops; ++here) {
      auto const until = start(plan_.stops[first + here].frame, at);
      while (row > until) {
        --row;
        if constexpr (masked) {
          if (!passes(at, row, with.plan->filter)) continue;
        }
        if constexpr (nullable) {
          if (with.nulls[row] != 0) continue;
        }
        add(at, row);
      }
      reached(here, at);
    }
  }
}

template <class Fresh, class Add, class Stop>
void walker::go(bound_walk const& with, std::size_t from, std::size_t to, Fresh const& fresh, Add const& add, Stop const& reached) {
  bool const masked = filters_.any();
  bool const nullable = with.nulls != nullptr;
  if (masked && nullable) return go_as<true, true>(with, from, to, fresh, add, reached);
  if (masked) return go_as<true, false>(with, from, to, fresh, add, reached);
  if (nullable) return go_as<false, true>(with, from, to, fresh, add, reached);
  return go_as<false, false>(with, from, to, fresh, add, reached);
}

// A state that grows along the walk, kept as it is at each stop.
template <class State, class Add>
void walker::gather(bound_walk const& with, std::vector<State>& states, Add const& add) {
  states.resize((with.plan->end_stop - with.plan->first_stop) * block_rows);
  State all;
  go(
      with, 0, size_, [&] { all = State{}; }, [&](std::size_t at, std::uint32_t row) { add(all, at, row); },
      [&](std::uint32_t here, std::size_t at) { states[here * block_rows + at] = all; });
}

template <class Work>
void walker::each_sink(bound_walk const& with, Work const& work) {
  for (auto at = with.plan->first_stop; at < with.plan->end_stop; ++at) {
    auto const& here = plan_.stops[at];
    for (auto to = here.first_sink; to < here.end_sink; ++to) work(here, plan_.sinks[to]);
  }
}

// Each sink of each stop, with the states of its stop.
template <class State, class Write>
void walker::write(bound_walk const& with, std::vector<State> const& states, Write const& write_sink) {
  auto const* const first = plan_.stops.data() + with.plan->first_stop;
  each_sink(with, [&](stop const& here, sink const& to) {
    write_sink(to, states.data() + static_cast<std::size_t>(&here - first) * block_rows);
  });
}

void walker::count_events(bound_walk const& with) {
  auto const* times = store_.times.data();
  each_sink(with, [&](stop const& here, sink const& to) {
    auto const into = column(to.column);
    auto const* starts = starts_.data() + here.frame * block_rows;
    if (to.what == aggregation::count) {
      for (std::size_t at = 0; at < size_; ++at) into.cells[at] = ends_[at] - starts[at];
      return;
    }
    for (std::size_t at = 0; at < size_; ++at) {
      bool const there = ends_[at] > starts[at];
      into.cells[at] = there ? as_of_[at] - times[ends_[at] - 1] : 0;
      into.states[at] = there ? cell_state::value : cell_state::null;
    }
  });
}

void walker::walk_events(bound_walk const& with) {
  auto const* times = store_.times.data();
  gather(with, occurrences_, [times](occurrences& all, std::size_t, std::uint32_t row) { all.add(times[row]); });
  write(with, occurrences_, [&](sink const& to, occurrences const* of) { write_occurrences(to, of); });
}

void walker::write_occurrences(sink const& to, occurrences const* of) const {
  auto const into = column(to.column);
  for (std::size_t at = 0; at < size_; ++at) into.put(at, occurrence_cell(to.what, of[at], as_of_[at]));
}

void walker::walk_moments(bound_walk const& with) {
  auto const* values = with.values;
  auto const stops = with.plan->end_stop - with.plan->first_stop;
  moments_.resize(stops * block_rows);
  live_.resize(std::max<std::size_t>(live_.size(), stops));
  for (auto& one : live_) one.size = 0;
  moments all;
  auto const fresh = [&] { all = moments{}; };
  auto const reached = [&](std::uint32_t here, std::size_t at) {
    if (all.count == 0) return;
    moments_[here * block_rows + at] = all;
    auto& rows = live_[here];
    rows.at[rows.size++] = static_cast<std::uint8_t>(at);
  };
  if (with.plan->squares) {
    go(with, 0, size_, fresh, [&](std::size_t, std::uint32_t row) { all.add(values[row]); }, reached);
  } else {
    go(with, 0, size_, fresh, [&](std::size_t, std::uint32_t row) { all.add_without_squares(values[row]); }, reached);
  }
  write(with, moments_, [&](sink const& to, moments const* of) {
    auto const stop = static_cast<std::size_t>(of - moments_.data()) / block_rows;
    write_moments(to, of, live_[stop]);
  });
}

template <class Put>
void walker::write_each(live_rows const& rows, Put const& put) const {
  for (std::size_t at = 0; at < rows.size; ++at) put(std::size_t{rows.at[at]});
}

void walker::write_moments(sink const& to, moments const* of, live_rows const& rows) const {
  auto const into = column(to.column);
  // Over nothing a sum is 0, all else null.
  into.fill(size_, to.what == aggregation::sum ? cell_state::value : cell_state::null);
  switch (to.what) {
    case aggregation::sum: return write_each(rows, [&](std::size_t at) { into.put(at, sum_cell(of[at])); });
    case aggregation::mean:
      return write_each(rows, [&](std::size_t at) { into.put(at, real_cell(mean_of(of[at].sum, of[at].count, to.scale))); });
    case aggregation::min: return write_each(rows, [&](std::size_t at) { into.put(at, of[at].least); });
    case aggregation::max: return write_each(rows, [&](std::size_t at) { into.put(at, of[at].most); });
    default: return write_spread(to, of, rows);
  }
}

// Variance and deviation.
void walker::write_spread(sink const& to, moments const* of, live_rows const& rows) const {
  auto const into = column(to.column);
  write_each(rows, [&](std::size_t at) { into.put(at, spread_cell(to, of[at])); });
}

// Few rows that all pass: each is compared with the newer ones where they are.
void walker::distinct_of_few(bound_walk const& with, std::size_t at) {
  auto const* values = with.values;
  auto const end = ends_[at];
  auto row = end;
  std::int64_t count = 0;
  for (auto here = with.plan->first_stop; here < with.plan->end_stop; ++here) {
    for (auto const until = start(plan_.stops[here].frame, at); row > until;) {
      auto const value = values[--row];
      auto newer = row + 1;
      while (newer < end && values[newer] != value) ++newer;
      if (newer == end) ++count;
    }
    counts_[(here - with.plan->first_stop) * block_rows + at] = count;
  }
}

void walker::walk_distinct(bound_walk const& with) {
  counts_.resize((with.plan->end_stop - with.plan->first_stop) * block_rows);
  bool const all_pass = !filters_.any() && with.nulls == nullptr;
  auto const reached = [&](std::uint32_t here, std::size_t at) { counts_[here * block_rows + at] = seen_.count(); };
  auto const add = [&](std::size_t, std::uint32_t row) { seen_.add(with.values[row]); };
  auto const widest = plan_.stops[with.plan->end_stop - 1].frame;
  for (std::size_t at = 0; at < size_; ++at) {
    if (all_pass && ends_[at] - start(widest, at) <= few_rows) {
      distinct_of_few(with, at);
    } else {
      go(with, at, at + 1, [&] { seen_.clear(); }, add, reached);
    }
  }
  write(with, counts_, [&](sink const& to, std::int64_t const* of) {
    auto const into = column(to.column);
    for (std::size_t at = 0; at < size_; ++at) into.put(at, of[at]);
  });
}

void walker::pick_rows(bound_walk const& with) {
  each_sink(with, [&](stop const& here, sink const& to) {
    auto const* values = with.values;
    for (std::size_t at = 0; at < size_; ++at) {
      auto const begin = start(here.frame, at);
      auto const end = ends_[at];
      write_pick(to, at, end - begin, [=](std::size_t back) { return values[end - 1 - back]; });
    }
  });
}

void walker::walk_picks(bound_walk const& with) {
  std::size_t const keep = with.plan->keep;
  kept_.resize(keep);
  std::size_t count = 0;
  std::int64_t oldest = 0;
  auto const add = [&](std::size_t, std::uint32_t row) {
    oldest = with.values[row];
    if (count < keep) kept_[count] = oldest;
    ++count;
  };
  auto const reached = [&](std::uint32_t here, std::size_t at) {
    auto const& stop = plan_.stops[with.plan->first_stop + here];
    auto const value = [&](std::size_t back) { return back < keep ? kept_[back] : oldest; };
    for (auto to = stop.first_sink; to < stop.end_sink; ++to) write_pick(plan_.sinks[to], at, count, value);
  };
  go(with, 0, size_, [&] { count = 0; }, add, reached);
}

// `value(back)`: the newest value, the one before it …, of the first `keep` and of the oldest.
template <class Value>
void walker::write_pick(sink const& to, std::size_t at, std::size_t count, Value const& value) const {
  auto const lanes = lanes_[to.column];
  auto* cells = cells_[to.column] + (row_ + at) * lanes;
  auto* states = states_[to.column] + (row_ + at) * lanes;
  if (to.what == aggregation::first && count > 0) {
    cells[0] = value(count - 1);
    states[0] = cell_state::value;
    return;
  }
  std::size_t lane = 0;
  for (; lane < lanes && lane < count; ++lane) {
    cells[lane] = value(lane);
    states[lane] = cell_state::value;
  }
  for (; lane < lanes; ++lane) {
    cells[lane] = 0;
    states[lane] = cell_state::null;
  }
}

void walker::walk_decay(bound_walk const& with) {
  auto const* times = store_.times.data();
  auto const weight = [&](std::size_t at, std::uint32_t row) {
    return with.plan->rate.weight(static_cast<std::uint64_t>(as_of_[at] - times[row]), table);
  };
  if (with.values == nullptr) {
    gather(with, decayed_, [&](decayed& all, std::size_t at, std::uint32_t row) { all.add(1, weight(at, row)); });
  } else {
    gather(with, decayed_, [&](decayed& all, std::size_t at, std::uint32_t row) { all.add(with.values[row], weight(at, row)); });
  }
  write(with, decayed_, [&](sink const& to, decayed const* of) {
    auto const into = column(to.column);
    for (std::size_t at = 0; at < size_; ++at) into.put(at, real_cell(of[at].value(to.scale)));
  });
}

void walker::write_quotient(quotient const& of) const {
  auto const into = column(of.column);
  auto const upper = column(of.upper);
  auto const lower = column(of.lower);
  for (std::size_t at = 0; at < size_; ++at) into.put(at, quotient_cell(upper.get(at), lower.get(at)));
}

}  // namespace atone::features
