// Computes a block of rows of results at a time: the engine's inner loops. One walk after the other runs over all rows of the block, then
// its results are written column by column, so that what is decided once a walk or a column is not decided once a row. Belongs to one
// thread; allocates only while its scratch grows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/cells.hpp"
#include "engine/plan.hpp"
#include "engine/seen.hpp"
#include "engine/visible.hpp"

namespace atone::features {

class walker {
 public:
  // Rows of results in a block: their states stay in the first cache.
  static constexpr std::size_t block_rows = 128;
  // Rows of the store that a block may look at before it is full: bounds its masks.
  static constexpr std::size_t block_events = 65'536;

  walker(feature_set const& set, feature_plan const& plan, event_store const& store, bound_filters const& filters, feature_table& into);

  // Rows come one after the other; a block is computed when it is full, the last one by `finish`.
  void begin(std::size_t first_row);
  void add(row_request const& request);
  void finish();

 private:
  // A walk with the store's columns at hand.
  struct bound_walk {
    walk const* plan = nullptr;
    std::int64_t const* values = nullptr;
    std::uint8_t const* nulls = nullptr;
  };
  // A column of results, from the block's first row on.
  struct column_at {
    std::int64_t* cells = nullptr;
    cell_state* states = nullptr;
    void put(std::size_t at, std::int64_t value) const {
      cells[at] = value;
      if (states != nullptr) states[at] = cell_state::value;
    }
    void put(std::size_t at, cell_value const& value) const {
      cells[at] = value.bits;
      if (states != nullptr) states[at] = value.state;
    }
    void fill(std::size_t count, cell_state with) const;
    cell_value get(std::size_t at) const { return cell_value{cells[at], states == nullptr ? cell_state::value : states[at]}; }
  };

  // Rows of a block whose window holds something: often few of them.
  struct live_rows {
    std::array<std::uint8_t, block_rows> at;
    std::size_t size = 0;
  };
  static_assert(block_rows <= 256);

  void find_frames(row_request const& request);
  std::uint32_t newest_of_filter(std::uint32_t begin, std::uint32_t end, std::uint32_t filter, std::int64_t rows) const;
  bool passes(std::size_t at, std::uint32_t row, std::uint32_t filter) const {
    return ((masks_[mask_at_[at] + row - begins_[at]] >> filter) & 1) != 0;
  }
  column_at column(std::uint32_t of) const;
  std::uint32_t start(std::uint32_t frame, std::size_t at) const { return starts_[frame * block_rows + at]; }

  void run(bound_walk const& with);
  template <class Fresh, class Add, class Stop>
  void go(bound_walk const& with, std::size_t from, std::size_t to, Fresh const& fresh, Add const& add, Stop const& reached);
  template <bool masked, bool nullable, class Fresh, class Add, class Stop>
  void go_as(bound_walk const& with, std::size_t from, std::size_t to, Fresh const& fresh, Add const& add, Stop const& reached);
  template <class State, class Add>
  void gather(bound_walk const& with, std::vector<State>& states, Add const& add);
  template <class State, class Write>
  void write(bound_walk const& with, std::vector<State> const& states, Write const& write_sink);

  template <class Work>
  void each_sink(bound_walk const& with, Work const& work);

  void count_events(bound_walk const& with);
  void walk_events(bound_walk const& with);
  void walk_moments(bound_walk const& with);
  void distinct_of_few(bound_walk const& with, std::size_t at);
  void walk_distinct(bound_walk const& with);
  void pick_rows(bound_walk const& with);
  void walk_picks(bound_walk const& with);
  void walk_decay(bound_walk const& with);
  void write_occurrences(sink const& to, occurrences const* of) const;
  template <class Put>
  void write_each(live_rows const& rows, Put const& put) const;
  void write_moments(sink const& to, moments const* of, live_rows const& rows) const;
  void write_spread(sink const& to, moments const* of, live_rows const& rows) const;
  template <class Value>
  void write_pick(sink const& to, std::size_t at, std::size_t count, Value const& value) const;
  void write_quotient(quotient const& of) const;

  feature_set const& set_;
  feature_plan const& plan_;
  event_store const& store_;
  bound_filters const& filters_;
  std::vector<bound_walk> walks_;
  std::vector<std::int64_t*> cells_;  // of the table's columns
  std::vector<cell_state*> states_;
  std::vector<std::uint32_t> lanes_;
  std::vector<std::int64_t> lengths_;  // of the time frames; 0: ever

  std::size_t row_ = 0;                // of results: the block's first
  std::size_t size_ = 0;               // rows in the block
  std::vector<std::uint32_t> begins_;  // of each row of the block: the entity's first event
  std::vector<std::uint32_t> ends_;    // behind the newest event that had happened
  std::vector<std::int64_t> as_of_;
  std::vector<std::size_t> mask_at_;
  std::vector<std::uint32_t> starts_;  // frames × block_rows
  std::vector<std::uint64_t> masks_;

  // What walks gather: stops × block_rows.
  std::vector<moments> moments_;
  std::vector<live_rows> live_;  // a stop
  std::vector<occurrences> occurrences_;
  std::vector<decayed> decayed_;
  std::vector<std::int64_t> counts_;
  seen_values seen_;
  std::vector<std::int64_t> kept_;
};

}  // namespace atone::features
