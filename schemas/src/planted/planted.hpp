// Faults that are put in on purpose, so that the simulation can show that it would find them. They exist only in the simulation's own build
// of some sources (ATONE_PLANTED_BUGS); everywhere else `planted` is false at compile time, and nothing of them is left.
#pragma once

#include <cstdint>
#include <string_view>

namespace atone {

enum class planted_bug : std::uint8_t {
  none,
  // the store (simulated)
  skip_fence,
  fence_keeps_epoch,
  reuse_epoch,
  lease_keeps_epoch,
  repeat_batch,
  key_not_unique,
  forget_notice,
  leave_keeps_shards,
  forget_refusal,
  hang_at_stop,
  // the participants (simulated)
  drop_barrier,
  drop_tombstone,
  // the lease keeper (simulated)
  lease_never_ends,
  fence_at_once,
  // the runtime
  acknowledge_early,
  send_before_durable,
  send_what_is_over,
  ignore_lease,
  let_go_unsettled,
  forget_calls_at_take_over,
  forget_timers_at_take_over,
  take_over_is_certain,
  new_key_each_attempt,
  stale_lease_epoch,
  lose_cancel,
  keep_row_to_itself,
  replay_skips_an_event,
  drop_parked_alert,
  foreign_goes_on,
  lock_for_everybody,
  forget_locks_at_take_over,
  pass_lock_early,
  grant_while_loading,
  loser_hears_its_own_id,
  go_on_when_refused,
  go_on_when_fenced,
  leave_in_the_queue,
  tell_the_end_early,
  view_before_durable,
  keep_wake_at,
  forget_the_resting,
  sleep_for_ever,
  send_while_stopping,
  acknowledge_report_early,
  take_request_early,
  // the machine
  rest_with_calls_out,
  forward_order_of_undo,
  overlapping_undo,
  forget_unknown,
  timeout_is_certain,
  undo_what_was_refused,
  forget_the_branches,
  join_too_early,
  when_is_ignored,
  deadline_after_pivot,
  cancel_after_pivot,
  cancel_is_ignored,
  undo_without_limit,
  retry_without_limit,
  retry_at_once,
  pivot_gives_up,
  refusal_is_retried,
  fallback_forgets_effect,
  fallback_value_as_out,
  start_more_while_failing,
  refused_undo_is_done,
  park_for_nothing,
  count
};

#ifdef ATONE_PLANTED_BUGS
// Whether this one is switched on; at most one is. Defined by the simulation.
bool planted(planted_bug which) noexcept;
#else
constexpr bool planted(planted_bug) noexcept {
  return false;
}
#endif

}  // namespace atone
