#include "postgres/pause.hpp"

#include <algorithm>
#include <thread>

#include "postgres/limits.hpp"

namespace atone::postgres {

bool rising_pause::wait() {
  if (left_.count() <= 0) return false;
  auto const now = std::min(next_, left_);
  std::this_thread::sleep_for(now);
  left_ -= now;
  next_ = std::min(next_ * 2, retry_pause_max);
  return true;
}

}  // namespace atone::postgres
