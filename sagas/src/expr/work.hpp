// What an evaluation may cost, and how it fails.
#pragma once

#include <cstdint>
#include <string>

#include <atone/expression.hpp>

#include "tree.hpp"

namespace atone::expr {

// A failed evaluation: what, and at which place of the text. Exhaustion is never absorbed by && || or a macro.
struct fault {
  errc code = errc::invalid_argument;
  std::size_t offset = 0;
  std::string message;

  fault() = default;
  fault(expression const& at, std::string text, errc kind = errc::invalid_argument)
      : code(kind), offset(at.offset), message(std::move(text)) {}
  bool fatal() const noexcept { return code == errc::exhausted; }
};

using outcome = result<datum, fault>;

inline constexpr std::size_t bytes_per_step = 64;    // text read or written
inline constexpr std::size_t elements_per_step = 4;  // list and map entries walked or copied

// Counts steps. Everything that grows with its operands is charged before it is done.
class work {
 public:
  explicit work(bounds const& limits) : limits_(limits), left_(limits.steps_max) {}

  bool spend(std::uint64_t steps) noexcept {
    if (steps > left_) return false;
    left_ -= steps;
    return true;
  }
  bool spend_bytes(std::size_t bytes) noexcept { return spend(bytes / bytes_per_step); }
  bool spend_elements(std::size_t count) noexcept { return spend(count / elements_per_step); }
  fault exhausted(expression const& at) const {
    return fault{at, "needs more than " + std::to_string(limits_.steps_max) + " steps", errc::exhausted};
  }
  bounds const& limits() const noexcept { return limits_; }

 private:
  bounds limits_;
  std::uint64_t left_;
};

}  // namespace atone::expr
