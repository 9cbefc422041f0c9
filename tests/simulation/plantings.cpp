#include "plantings.hpp"

#include <array>
#include <chrono>
#include <iomanip>
#include <ostream>

#include "run.hpp"

namespace atone {

#ifdef ATONE_PLANTED_BUGS
namespace {
planted_bug switched_on = planted_bug::none;
}
bool planted(planted_bug which) noexcept {
  return switched_on == which;
}
#endif

namespace simulation {
namespace {

constexpr std::size_t bugs = static_cast<std::size_t>(planted_bug::count);
constexpr std::array<std::string_view, bugs> words{"none",
                                                   "skip_fence",
                                                   "fence_keeps_epoch",
                                                   "reuse_epoch",
                                                   "lease_keeps_epoch",
                                                   "repeat_batch",
                                                   "key_not_unique",
                                                   "forget_notice",
                                                   "leave_keeps_shards",
                                                   "forget_refusal",
                                                   "hang_at_stop",
                                                   "drop_barrier",
                                                   "drop_tombstone",
                                                   "lease_never_ends",
                                                   "fence_at_once",
                                                   "acknowledge_early",
                                                   "send_before_durable",
                                                   "send_what_is_over",
                                                   "ignore_lease",
                                                   "let_go_unsettled",
                                                   "forget_calls_at_take_over",
                                                   "forget_timers_at_take_over",
                                                   "take_over_is_certain",
                                                   "new_key_each_attempt",
                                                   "stale_lease_epoch",
                                                   "lose_cancel",
                                                   "keep_row_to_itself",
                                                   "replay_skips_an_event",
                                                   "drop_parked_alert",
                                                   "foreign_goes_on",
                                                   "lock_for_everybody",
                                                   "forget_locks_at_take_over",
                                                   "pass_lock_early",
                                                   "grant_while_loading",
                                                   "loser_hears_its_own_id",
                                                   "go_on_when_refused",
                                                   "go_on_when_fenced",
                                                   "leave_in_the_queue",
                                                   "tell_the_end_early",
                                                   "view_before_durable",
                                                   "keep_wake_at",
                                                   "forget_the_resting",
                                                   "sleep_for_ever",
                                                   "send_while_stopping",
                                                   "acknowledge_report_early",
                                                   "take_request_early",
                                                   "rest_with_calls_out",
                                                   "forward_order_of_undo",
                                                   "overlapping_undo",
                                                   "forget_unknown",
                                                   "timeout_is_certain",
                                                   "undo_what_was_refused",
                                                   "forget_the_branches",
                                                   "join_too_early",
                                                   "when_is_ignored",
                                                   "deadline_after_pivot",
                                                   "cancel_after_pivot",
                                                   "cancel_is_ignored",
                                                   "undo_without_limit",
                                                   "retry_without_limit",
                                                   "retry_at_once",
                                                   "pivot_gives_up",
                                                   "refusal_is_retried",
                                                   "fallback_forgets_effect",
                                                   "fallback_value_as_out",
                                                   "start_more_while_failing",
                                                   "refused_undo_is_done",
                                                   "park_for_nothing"};

}  // namespace

std::string_view name(planted_bug bug) noexcept {
  return words.at(static_cast<std::size_t>(bug));
}

std::vector<planted_bug> all_planted() {
  std::vector<planted_bug> all;
#ifdef ATONE_PLANTED_BUGS
  for (std::size_t at = 1; at < bugs; ++at) all.push_back(static_cast<planted_bug>(at));
#endif
  return all;
}

void switch_on(planted_bug bug) noexcept {
#ifdef ATONE_PLANTED_BUGS
  switched_on = bug;
#else
  static_cast<void>(bug);
#endif
}

hunt_report hunt(planted_bug bug, std::uint64_t first, std::uint64_t most) {
  hunt_report made;
  made.bug = bug;
  auto const begun = std::chrono::steady_clock::now();
  switch_on(bug);
  for (; made.seeds < most && !made.checker; ++made.seeds) {
    auto const ran = run_seed(first + made.seeds);
    made.sagas += ran.sagas;
    if (ran.violations.empty()) continue;
    made.seed = ran.seed;
    made.checker = ran.violations.front().checker;
    made.text = ran.violations.front().text;
  }
  switch_on(planted_bug::none);
  made.seconds = std::chrono::duration<double>{std::chrono::steady_clock::now() - begun}.count();
  return made;
}

bool hunt_all(std::ostream& to, std::uint64_t first, std::uint64_t seeds_max, std::string const& only) {
  bool all = !all_planted().empty();
  if (!all) to << "this build has no planted bugs: use atone_simulation_planted\n";
  to << std::left << "| planted bug | found by | seeds | sagas | seconds | as |\n|---|---|---:|---:|---:|---|\n";
  for (auto const bug : all_planted()) {
    if (!only.empty() && name(bug) != only) continue;
    auto const made = hunt(bug, first, seeds_max);
    all = all && made.checker;
    to << "| " << name(bug) << " | " << made.checker.value_or("NOT FOUND") << " | " << made.seeds << " | " << made.sagas << " | "
       << std::fixed << std::setprecision(2) << made.seconds << " | " << made.text << " |" << std::endl;
  }
  return all;
}

}  // namespace simulation
}  // namespace atone
