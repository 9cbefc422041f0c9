#include "tally.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace demo {

std::string reason_of(std::string_view cause) {
  if (cause.find("deadline") == 4) return "deadline";  // "the deadline of 15m passed"
  for (std::string_view const word : {" refused", " failed", " timed out"}) {
    auto const at = cause.find(word);
    if (at == std::string_view::npos || cause.substr(0, at).find(' ') != std::string_view::npos) continue;
    return std::string{cause.substr(0, at + word.size())};
  }
  return cause.empty() ? "no cause given" : "other";
}

std::string grouped(std::uint64_t value) {
  auto digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string bar(std::uint64_t done, std::uint64_t all, std::size_t width) {
  auto const full = all == 0 ? width : std::min<std::size_t>(width, static_cast<std::size_t>(done * width / all));
  std::string out;
  for (std::size_t at = 0; at < width; ++at) out += at < full ? "█" : "░";
  return out;
}

void tally::add(outcome const& of) {
  switch (of.status) {
    case atone::saga_status::completed:
      ++completed_;
      completed_cents_ += purchases_[of.item].cents;
      if (!of.fell_back.empty()) ++stale_;
      return;
    case atone::saga_status::compensated:
      ++compensated_;
      ++reasons_[reason_of(of.cause)];
      last_compensated_ = of.id;
      return;
    default: ++parked_; return;
  }
}

std::string tally::text() const {
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (auto const& [reason, count] : reasons_) sorted.emplace_back(count, reason);
  std::sort(sorted.begin(), sorted.end(), [](auto const& left, auto const& right) { return left.first > right.first; });
  std::string reasons;
  for (auto const& [count, reason] : sorted) {
    reasons += reasons.empty() ? "   " : " · ";
    reasons += reason + ' ' + grouped(count);
  }
  return "      completed   " + grouped(completed_) + "   of these with stale features " + grouped(stale_) + '\n' + "      compensated " +
         grouped(compensated_) + reasons + '\n' + "      parked      " + grouped(parked_) + '\n';
}

}  // namespace demo
