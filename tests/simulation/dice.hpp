// Where all chance in a simulated run comes from. Thread rules: a value of one thread.
#pragma once

#include <cstdint>

#include <atone/time.hpp>

namespace atone::simulation {

// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators): small, fast, and each seed a stream of its own.
class dice {
 public:
  explicit dice(std::uint64_t seed) noexcept : state_(seed * 0x9E3779B97F4A7C15U + 1) {}

  std::uint64_t next() noexcept {
    std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBU;
    return mixed ^ mixed >> 31;
  }
  std::uint64_t below(std::uint64_t count) noexcept { return count == 0 ? 0 : next() % count; }
  // Both ends included.
  std::uint64_t between(std::uint64_t least, std::uint64_t most) noexcept { return least + below(most - least + 1); }
  bool chance(std::uint32_t thousandths) noexcept { return next() % 1000 < thousandths; }
  duration up_to(duration longest) noexcept {
    return duration{static_cast<std::int64_t>(below(static_cast<std::uint64_t>(longest.count()) + 1))};
  }

 private:
  std::uint64_t state_;
};

}  // namespace atone::simulation
