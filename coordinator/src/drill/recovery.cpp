#include "drill/recovery.hpp"

#include <algorithm>

#include <atone/assert.hpp>

namespace atone::drill {

double usual_rate::per_second() const noexcept {
  if (calm <= duration::zero()) return 0;
  return static_cast<double>(ended) / std::chrono::duration<double>(calm).count();
}

wanted_rate usual_rate::share(std::uint32_t percent) const noexcept {
  wanted_rate made;
  made.within = window;
  if (ended == 0 || calm <= duration::zero()) return made;
  auto const least = calm * static_cast<std::int64_t>(ends_least) / static_cast<std::int64_t>(ended);  // so long they take
  made.within = std::max(window, least);
  auto const usually = per_second() * std::chrono::duration<double>(made.within).count();
  made.ends = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(usually * percent / 100));
  return made;
}

std::optional<duration> recovered_at(std::vector<duration> const& ends, duration from, wanted_rate const& wanted, duration stays) {
  ATONE_ASSERT(wanted.ends > 0);
  auto const hold = std::max(duration::zero(), stays - wanted.within);  // stretches may begin so much later
  auto begin = from;
  auto at = from;  // every stretch that begins from `begin` up to here holds
  auto next = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), from) - ends.begin());
  // Stretches that begin before ends[next], and not before the end ahead of it, have ends[next] as their first.
  for (; next + wanted.ends - 1 < ends.size(); ++next) {
    if (ends[next] == at) continue;  // no stretch begins between two that ended at once
    auto const holds_from = ends[next + wanted.ends - 1] - wanted.within;
    if (holds_from > at) begin = std::min(holds_from, ends[next]);
    at = ends[next];
    if (at > begin + hold) return begin;
  }
  return std::nullopt;
}

duration longest_gap(std::vector<duration> const& ends, duration from, duration until) {
  auto longest = duration::zero();
  auto last = from;
  for (auto at = std::upper_bound(ends.begin(), ends.end(), from); at != ends.end() && *at < until; ++at) {
    longest = std::max(longest, *at - last);
    last = *at;
  }
  return std::max(longest, until - last);
}

}  // namespace atone::drill
