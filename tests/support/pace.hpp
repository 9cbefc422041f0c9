// Waiting for a condition that nobody rings a bell for: looked at again and again, at a pace that leaves the processor to those who
// work on it. Thread rules: any thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>

namespace atone::test {

using moment = std::chrono::steady_clock::time_point;
using span = std::chrono::milliseconds;

inline moment now() {
  return std::chrono::steady_clock::now();
}
inline span since(moment then) {
  return std::chrono::duration_cast<span>(now() - then);
}

// True once it holds; false when it did not within `at_most`.
inline bool comes_true(std::function<bool()> const& condition, span at_most) {
  constexpr int look_again_ms = 10;
  for (auto const end = now() + at_most; now() < end;) {
    if (condition()) return true;
    ::poll(nullptr, 0, look_again_ms);
  }
  return condition();
}

// How long a fault is left in place: what is tested is that nothing comes of it meanwhile.
inline void lasts(span time) {
  static_cast<void>(comes_true([] { return false; }, time));
}

}  // namespace atone::test
