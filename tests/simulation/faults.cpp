#include "faults.hpp"

#include <algorithm>

namespace atone::simulation {
namespace {

constexpr std::array<std::string_view, fault_kinds> words{"refuse",
                                                          "refuse_undo",
                                                          "busy",
                                                          "error",
                                                          "lose_answer",
                                                          "duplicate",
                                                          "late",
                                                          "reorder",
                                                          "slow",
                                                          "wrong_answer",
                                                          "hold",
                                                          "hang",
                                                          "store_away",
                                                          "commit_lost",
                                                          "commit_slow",
                                                          "reject_data",
                                                          "crash",
                                                          "crash_before_commit",
                                                          "crash_after_commit",
                                                          "crash_before_send",
                                                          "crash_after_send",
                                                          "freeze",
                                                          "clock_jump",
                                                          "deaf",
                                                          "cancel",
                                                          "pause",
                                                          "meddle",
                                                          "look",
                                                          "stop",
                                                          "callback",
                                                          "callback_twice",
                                                          "callback_lost"};

// What is usual of each kind, in thousandths; what is exaggerated is five times that.
constexpr std::uint32_t usual(fault kind) {
  switch (kind) {
    case fault::crash: return 1;
    case fault::crash_before_commit:
    case fault::crash_after_commit: return 6;
    case fault::crash_before_send:
    case fault::crash_after_send: return 4;
    case fault::freeze: return 1;
    case fault::hang: return 10;
    case fault::reject_data: return 3;
    case fault::clock_jump: return 5;
    case fault::wrong_answer: return 10;
    case fault::commit_slow: return 8;
    case fault::refuse_undo: return 15;
    case fault::meddle:
    case fault::pause: return 30;
    case fault::cancel: return 60;
    case fault::look: return 100;
    case fault::stop: return 1;
    case fault::callback:
    case fault::callback_twice:
    case fault::callback_lost: return 200;
    default: return 40;
  }
}
constexpr std::uint32_t exaggerated = 5;

}  // namespace

std::string_view name(fault kind) noexcept {
  auto const at = static_cast<std::size_t>(kind);
  return at < words.size() ? words[at] : "unknown";
}

std::optional<fault> parse_fault(std::string_view word) noexcept {
  auto const at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) return std::nullopt;
  return static_cast<fault>(at - words.begin());
}

rates drawn_rates(dice& from, bool several) {
  rates made{};
  bool const calm_run = from.chance(30);
  for (std::size_t at = 0; at < fault_kinds; ++at) {
    auto const kind = static_cast<fault>(at);
    auto const most = usual(kind);
    auto const how = from.below(8);
    if (how < 3 || calm_run) continue;  // wholesale off
    made[at] = how == 7 ? most * exaggerated : static_cast<std::uint32_t>(from.between(1, most));
  }
  if (!several) made[static_cast<std::size_t>(fault::deaf)] = made[static_cast<std::size_t>(fault::freeze)] = 0;
  return made;
}

bool fault_source::happens(fault kind) {
  auto const at = static_cast<std::size_t>(kind);
  auto const which = asked_[at]++;
  bool does = false;
  if (script_) {
    does = raging_ && script_->contains(happened{kind, which});
  } else {
    auto& from = kind >= fault::stop ? aside_ : dice_;
    does = raging_ && rates_[at] > 0 && from.chance(rates_[at]);
  }
  if (does) list_.emplace_back(kind, which);
  return does;
}

}  // namespace atone::simulation
