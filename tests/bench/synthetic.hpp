// The rows that real sagas write, written again under other ids without an engine: what the store alone can take.
// Thread rules: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <atone/journal.hpp>

namespace bench {

// All that one saga of the bench writes, taken from a real one.
struct saga_sample {
  atone::saga_start start;
  std::vector<atone::event> events;  // started and one a step
  atone::saga_change end;

  saga_sample() = default;
};

// Runs one saga in memory with local handlers and reads what it wrote.
saga_sample take_sample();

// Batches as a busy engine makes them: in each some sagas start, others go one step on, and others end.
class synthetic_batches {
 public:
  // `sagas_a_batch` start, advance and end in each batch: four records and two saga rows for each.
  synthetic_batches(saga_sample of, std::uint32_t sagas_a_batch, std::uint16_t shards);

  // The sagas that are under way before the first batch; commit these first.
  std::vector<atone::journal_batch> opening() const;
  // Valid until the next call.
  atone::journal_batch const& next();

 private:
  using ids = std::vector<atone::saga_id>;

  ids new_ids();
  atone::shard home_of(atone::saga_id id) const;

  saga_sample sample_;
  std::uint32_t sagas_;
  std::uint16_t shards_;
  std::uint64_t made_ = 0;
  std::vector<ids> groups_;  // groups_[k] has its next event k + 1
  atone::journal_batch batch_;
};

}  // namespace bench
