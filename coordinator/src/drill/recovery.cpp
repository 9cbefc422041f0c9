#include "drill/recovery.hpp"

#include <algorithm>
#include <cmath>

#include <atone/assert.hpp>

namespace atone::drill {

double usual_rate::per_second() const noexcept {
  if (calm <= duration::zero()) return 0;
  return static_cast<double>(ended) / std::chrono::duration<double>(calm).count();
}

std::uint64_t usual_rate::half() const noexcept {
  return static_cast<std::uint64_t>(std::ceil(per_second() * std::chrono::duration<double>(recovery_window).count() / 2));
}

std::optional<duration> recovered_at(std::vector<duration> const& ends, duration from, std::uint64_t needed) {
  ATONE_ASSERT(needed > 0);
  auto const first = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), from) - ends.begin());
  for (auto last = first + needed - 1; last < ends.size(); ++last) {
    if (ends[last] - ends[last + 1 - needed] <= recovery_window) return ends[last];
  }
  return std::nullopt;
}

}  // namespace atone::drill
