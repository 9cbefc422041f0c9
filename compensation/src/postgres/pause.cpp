#include "postgres/pause.hpp"

#include <algorithm>
#include <thread>

#include "postgres/limits.hpp"

namespace atone::postgres {

bool rising_pause::wait() {
  auto const now = clock::now();
  if (!began_) began_ = now;
  if (now - *began_ >= total_) return false;
  std::this_thread::sleep_for(next_);
  next_ = std::min(next_ * 2, retry_pause_max);
  return true;
}

}  // namespace atone::postgres
