// What a deterministic core may not read for itself: clock, randomness, new ids. Always passed in by constructor, so
// that a simulator can stand behind the same code. The real ones are made in coordinator/ only.
// Thread rules: a source belongs to the thread of who was given it, unless its maker says more; it outlives whoever was given it.
#pragma once

#include <cstdint>

#include <atone/ids.hpp>
#include <atone/time.hpp>

namespace atone {

// Estimate of the database's clock. Never goes back within one process.
class clock_source {
 public:
  virtual ~clock_source() = default;
  virtual timestamp now() = 0;
};

// Chance, for jitter and new ids; not for secrets.
class random_source {
 public:
  virtual ~random_source() = default;
  virtual std::uint64_t next() = 0;  // 64 uniform bits
};

// New saga ids, strictly rising within one process.
class id_source {
 public:
  virtual ~id_source() = default;
  virtual saga_id next_saga(timestamp now) = 0;  // `now` gives the id's time part
};

}  // namespace atone
