// Rising pauses with a bound on their sum: how every repeated attempt on PostgreSQL waits. Thread rules: one thread.
#pragma once

#include <chrono>

namespace atone::postgres {

class rising_pause {
 public:
  rising_pause(std::chrono::milliseconds first, std::chrono::milliseconds total) : next_(first), left_(total) {}
  // Sleeps and doubles; false, at once, when the sum is used up.
  bool wait();

 private:
  std::chrono::milliseconds next_;
  std::chrono::milliseconds left_;
};

}  // namespace atone::postgres
