// Computes one row of results after the other: the engine's inner loop. Belongs to one thread; allocates only while its scratch grows.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan.hpp"
#include "engine/seen.hpp"
#include "engine/visible.hpp"

namespace atone::features {

// One row to compute: rows begin … end of the store may count, if they had happened and were known.
struct row_request {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::int64_t as_of = 0;
  std::int64_t known_at = 0;
};

class walker {
 public:
  walker(feature_set const& set, feature_plan const& plan, event_store const& store, bound_filters const& filters, feature_table& into);

  // Writes row `row` of the table.
  void compute(row_request const& request, std::size_t row);

 private:
  // A walk with the store's columns at hand.
  struct bound_walk {
    walk const* plan = nullptr;
    std::int64_t const* values = nullptr;
    std::uint8_t const* nulls = nullptr;
  };

  void find_frames(row_request const& request);
  std::uint32_t newest_of_filter(std::uint32_t begin, std::uint32_t filter, std::int64_t rows) const;
  void run(bound_walk const& with);
  template <class Add, class Stop>
  void go(bound_walk const& with, Add const& add, Stop const& reached);
  template <bool masked, bool nullable, class Add, class Stop>
  void go_as(bound_walk const& with, Add const& add, Stop const& reached);

  void walk_events(bound_walk const& with);
  void count_events(bound_walk const& with);
  void walk_moments(bound_walk const& with);
  void walk_distinct(bound_walk const& with);
  void walk_picks(bound_walk const& with);
  void walk_decay(bound_walk const& with);

  void write_events(sink const& to, std::int64_t count, std::int64_t newest, std::int64_t oldest, std::int64_t gap);
  void write_moments(sink const& to, moments const& of);
  void write_picks(sink const& to, std::size_t count, std::int64_t oldest);
  void write_quotient(quotient const& of);

  void put(sink const& to, std::int64_t value) { put(to.column, value); }
  void put(std::uint32_t column, std::int64_t value);
  void put_real(std::uint32_t column, double value);
  void put_nothing(std::uint32_t column, cell_state why);

  feature_set const& set_;
  feature_plan const& plan_;
  event_store const& store_;
  bound_filters const& filters_;
  std::vector<bound_walk> walks_;
  std::vector<std::int64_t*> cells_;  // of the table's columns
  std::vector<cell_state*> states_;
  std::vector<std::uint32_t> lanes_;
  std::vector<std::int64_t> lengths_;  // of the time frames; 0: ever
  std::vector<std::uint32_t> starts_;  // of each frame, for the row at hand
  std::vector<std::uint64_t> masks_;
  seen_values seen_;
  std::vector<std::int64_t> kept_;
  std::uint32_t begin_ = 0;  // of the row at hand: the entity's first row
  std::uint32_t end_ = 0;    // behind the newest row that had happened
  std::int64_t as_of_ = 0;
  std::size_t row_ = 0;
};

}  // namespace atone::features
