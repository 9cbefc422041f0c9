// What a store takes through the journal port alone. Thread rules: one thread.
#pragma once

#include <cstdint>

#include "stage.hpp"

namespace bench {

struct store_figures {
  double records_per_commit = 0;
  double sagas_per_s = 0;
  double commits_per_s = 0;
  double p50_ms = 0;  // of a commit
  double p99_ms = 0;

  store_figures() = default;
};

// Commits batches of so many records (a saga has four, and two rows of its own) through one connection, one after another.
store_figures measure_store(stage& on, store_kind kind, double records_a_commit);
// Puts `sagas` finished sagas into a store.
void fill_store(stage& on, place const& in, std::uint64_t sagas);

}  // namespace bench
