// What a deterministic core may not read for itself: clock, randomness, new ids. Always passed in by constructor, so
// that a simulator can stand behind the same code. The real ones are made in coordinator/ only.
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

class random_source {
 public:
  virtual ~random_source() = default;
  virtual std::uint64_t next() = 0;  // 64 uniform bits
};

// New saga ids, strictly rising within one process.
class id_source {
 public:
  virtual ~id_source() = default;
  virtual saga_id next_saga(timestamp now) = 0;
};

}  // namespace atone
