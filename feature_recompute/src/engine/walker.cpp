#include "engine/walker.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace atone::features {
namespace {

constexpr decay_table table{};
// Rows up to which looking at each is quicker than searching.
constexpr std::uint32_t scanned_max = 48;

// Where the window of the newest `end - row` rows begins: the first row later than `time`.
std::uint32_t first_after(std::int64_t const* times, std::uint32_t begin, std::uint32_t end, std::int64_t time) {
  if (end - begin <= scanned_max) {
    while (end > begin && times[end - 1] > time) --end;
    return end;
  }
  return static_cast<std::uint32_t>(std::upper_bound(times + begin, times + end, time) - times);
}

}  // namespace

walker::walker(feature_set const& set, feature_plan const& plan, event_store const& store, bound_filters const& filters,
               feature_table& into)
    : set_(set), plan_(plan), store_(store), filters_(filters), starts_(plan.frames()) {
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
  for (auto& column : into.columns) {
    cells_.push_back(column.cells.get());
    states_.push_back(column.states.get());
    lanes_.push_back(column.lanes);
  }
  for (auto const& one : plan.time_frames) {
    lengths_.push_back(set.windows[one.window].kind == window_kind::ever ? 0 : set.windows[one.window].length.count());
  }
}

void walker::put(std::uint32_t column, std::int64_t value) {
  cells_[column][row_] = value;
  if (states_[column] != nullptr) states_[column][row_] = cell_state::value;
}

void walker::put_real(std::uint32_t column, double value) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  put(column, bits);
}

void walker::put_nothing(std::uint32_t column, cell_state why) {
  cells_[column][row_] = 0;
  states_[column][row_] = why;
}

std::uint32_t walker::newest_of_filter(std::uint32_t begin, std::uint32_t filter, std::int64_t rows) const {
  if (!filters_.any()) return end_ - begin <= rows ? begin : end_ - static_cast<std::uint32_t>(rows);
  auto row = end_;
  while (row > begin && rows > 0) {
    --row;
    rows -= static_cast<std::int64_t>((masks_[row - begin_] >> filter) & 1);
  }
  return row;
}

void walker::find_frames(row_request const& request) {
  auto const* times = store_.times.data();
  begin_ = request.begin;
  end_ = request.end;
  as_of_ = request.as_of;
  if (end_ > begin_ && times[end_ - 1] > as_of_) end_ = first_after(times, begin_, end_, as_of_);
  auto start = end_;
  for (std::size_t at = 0; at < lengths_.size(); ++at) {
    start = lengths_[at] == 0 ? begin_ : first_after(times, begin_, start, as_of_ - lengths_[at]);
    starts_[at] = start;
  }
  if (filters_.any()) filters_.fill(begin_, end_, request.known_at, masks_);
  for (std::size_t at = 0; at < plan_.row_frames.size(); ++at) {
    auto const& frame = plan_.row_frames[at];
    starts_[lengths_.size() + at] = newest_of_filter(begin_, frame.filter, set_.windows[frame.window].rows);
  }
}

void walker::compute(row_request const& request, std::size_t row) {
  row_ = row;
  find_frames(request);
  for (auto const& with : walks_) run(with);
  for (auto const& of : plan_.quotients) write_quotient(of);
}

void walker::run(bound_walk const& with) {
  switch (with.plan->kind) {
    case walk_kind::events:
      return with.plan->only_count && !filters_.any() && with.nulls == nullptr ? count_events(with) : walk_events(with);
    case walk_kind::moments: return walk_moments(with);
    case walk_kind::distinct: return walk_distinct(with);
    case walk_kind::picks: return walk_picks(with);
    case walk_kind::decay: return walk_decay(with);
  }
}

template <bool masked, bool nullable, class Add, class Stop>
void walker::go_as(bound_walk const& with, Add const& add, Stop const& reached) {
  auto row = end_;
  for (auto at = with.plan->first_stop; at < with.plan->end_stop; ++at) {
    auto const& here = plan_.stops[at];
    auto const start = starts_[here.frame];
    while (row > start) {
      --row;
      if constexpr (masked) {
        if (((masks_[row - begin_] >> with.plan->filter) & 1) == 0) continue;
      }
      if constexpr (nullable) {
        if (with.nulls[row] != 0) continue;
      }
      add(row);
    }
    for (auto to = here.first_sink; to < here.end_sink; ++to) reached(plan_.sinks[to]);
  }
}

template <class Add, class Stop>
void walker::go(bound_walk const& with, Add const& add, Stop const& reached) {
  bool const masked = filters_.any();
  bool const nullable = with.nulls != nullptr;
  if (masked && nullable) return go_as<true, true>(with, add, reached);
  if (masked) return go_as<true, false>(with, add, reached);
  if (nullable) return go_as<false, true>(with, add, reached);
  return go_as<false, false>(with, add, reached);
}

// Nothing to look at: a window's rows are all its events.
void walker::count_events(bound_walk const& with) {
  for (auto at = with.plan->first_stop; at < with.plan->end_stop; ++at) {
    auto const& here = plan_.stops[at];
    for (auto to = here.first_sink; to < here.end_sink; ++to) put(plan_.sinks[to], end_ - starts_[here.frame]);
  }
}

void walker::walk_events(bound_walk const& with) {
  auto const* times = store_.times.data();
  std::int64_t count = 0;
  std::int64_t newest = 0;
  std::int64_t oldest = 0;
  std::int64_t gap = INT64_MAX;
  auto const add = [&](std::uint32_t row) {
    auto const time = times[row];
    if (count == 0) {
      newest = time;
    } else {
      gap = std::min(gap, oldest - time);
    }
    oldest = time;
    ++count;
  };
  go(with, add, [&](sink const& to) { write_events(to, count, newest, oldest, gap); });
}

void walker::write_events(sink const& to, std::int64_t count, std::int64_t newest, std::int64_t oldest, std::int64_t gap) {
  if (to.what == aggregation::count) return put(to, count);
  if (count < (to.what == aggregation::recency ? 1 : 2)) return put_nothing(to.column, cell_state::null);
  if (to.what == aggregation::recency) return put(to, as_of_ - newest);
  if (to.what == aggregation::interval_min) return put(to, gap);
  put_real(to.column, mean_of(newest - oldest, count - 1, 1));
}

void walker::walk_moments(bound_walk const& with) {
  moments all;
  go(with, [&](std::uint32_t row) { all.add(with.values[row]); }, [&](sink const& to) { write_moments(to, all); });
}

void walker::write_moments(sink const& to, moments const& of) {
  bool const of_a_sample = (to.what == aggregation::variance || to.what == aggregation::deviation) && to.sample;
  if (of.count < (of_a_sample ? 2 : 1)) {
    // A sum over nothing is 0.
    return to.what == aggregation::sum ? put(to, 0) : put_nothing(to.column, cell_state::null);
  }
  switch (to.what) {
    case aggregation::sum:
      if (!fits(of.sum)) return put_nothing(to.column, cell_state::overflow);
      return put(to, static_cast<std::int64_t>(of.sum));
    case aggregation::mean: return put_real(to.column, mean_of(of.sum, of.count, to.scale));
    case aggregation::min: return put(to, of.least);
    case aggregation::max: return put(to, of.most);
    default: break;
  }
  if (of.overflow) return put_nothing(to.column, cell_state::overflow);
  auto const variance = variance_of(of.count, of.sum, of.squares, to.scale, to.sample);
  put_real(to.column, to.what == aggregation::variance ? variance : std::sqrt(variance));
}

void walker::walk_distinct(bound_walk const& with) {
  seen_.clear();
  go(with, [&](std::uint32_t row) { seen_.add(with.values[row]); }, [&](sink const& to) { put(to, seen_.count()); });
}

void walker::walk_picks(bound_walk const& with) {
  kept_.clear();
  std::size_t count = 0;
  std::int64_t oldest = 0;
  auto const add = [&](std::uint32_t row) {
    oldest = with.values[row];
    if (count < with.plan->keep) kept_.push_back(oldest);
    ++count;
  };
  go(with, add, [&](sink const& to) { write_picks(to, count, oldest); });
}

void walker::write_picks(sink const& to, std::size_t count, std::int64_t oldest) {
  if (to.what != aggregation::last_values) {
    if (count == 0) return put_nothing(to.column, cell_state::null);
    return put(to, to.what == aggregation::first ? oldest : kept_[0]);
  }
  auto const lanes = lanes_[to.column];
  auto* cells = cells_[to.column] + row_ * lanes;
  auto* states = states_[to.column] + row_ * lanes;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    bool const there = lane < count;
    cells[lane] = there ? kept_[lane] : 0;
    states[lane] = there ? cell_state::value : cell_state::null;
  }
}

void walker::walk_decay(bound_walk const& with) {
  decayed all;
  auto const add = [&](std::uint32_t row) {
    auto const age = static_cast<std::uint64_t>(as_of_ - store_.times[row]);
    all.add(with.values == nullptr ? 1 : with.values[row], with.plan->rate.weight(age, table));
  };
  go(with, add, [&](sink const& to) { put_real(to.column, all.value(to.scale)); });
}

void walker::write_quotient(quotient const& of) {
  auto const state = [&](std::uint32_t column) { return states_[column] == nullptr ? cell_state::value : states_[column][row_]; };
  for (auto const column : {of.upper, of.lower}) {
    if (state(column) == cell_state::overflow) return put_nothing(of.column, cell_state::overflow);
  }
  int128 const upper = cells_[of.upper][row_];
  int128 const lower = cells_[of.lower][row_];
  if (lower == 0) return put_nothing(of.column, cell_state::null);
  put_real(of.column, nearest_quotient(lower < 0 ? -upper : upper, magnitude_of(lower)));
}

}  // namespace atone::features
