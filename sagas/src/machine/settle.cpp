// How a step or a saga gives up, retries later, or is parked.
#include <algorithm>

#include "planted.hpp"
#include "state.hpp"

namespace atone::machine {

std::string cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string{text};
  auto end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 sequence
  return std::string{text.substr(0, end)} + " … (cut, " + std::to_string(text.size()) + " bytes)";
}

// min(cap, delay * factor^(n-1)), in integers, then jitter from the event's random number.
duration backoff(retry_policy const& policy, std::uint32_t attempt_made, std::uint64_t random) {
  ATONE_ASSERT(attempt_made >= 1);
  auto base = policy.delay.count();
  auto const cap = policy.cap.count();
  for (std::uint32_t n = 1; n < attempt_made && base < cap && base > 0 && policy.factor_milli > 1000; ++n) {
    base = base > cap * 1000 / static_cast<std::int64_t>(policy.factor_milli) ? cap : base * policy.factor_milli / 1000;
  }
  base = std::min(base, cap);
  auto const fraction = static_cast<double>(random >> 11) * 0x1p-53;  // [0, 1)
  switch (policy.jitter) {
    case retry_policy::jitter_kind::none: return duration{base};
    case retry_policy::jitter_kind::full: return duration{static_cast<std::int64_t>(static_cast<double>(base) * fraction)};
    case retry_policy::jitter_kind::equal:
      return duration{base / 2 + static_cast<std::int64_t>(static_cast<double>(base - base / 2) * fraction)};
  }
  return duration{base};
}

bool has_effect(step_run const& run) noexcept {
  if (run.action() == nullptr) return false;
  if (planted(planted_bug::undo_what_was_refused) && run.phase == run_phase::not_done) return true;
  if (run.fell_back) return run.maybe_sent && !planted(planted_bug::fallback_forgets_effect);
  return run.phase == run_phase::done || run.phase == run_phase::maybe_done;
}

// Retriable steps, everything after the pivot, and a pivot that may have been done have no way back: they go on until done.
bool turn::until_done(step_run const& run) const noexcept {
  if (state_.failing) return false;
  if (state_.committed || run.of->promise == atomicity::retriable) return true;
  return run.of->promise == atomicity::pivot && run.maybe_sent && !planted(planted_bug::pivot_gives_up);
}

bool turn::attempts_spent(step_run const& run) const noexcept {
  if (planted(planted_bug::retry_without_limit)) return false;
  auto const& limit = run.action()->retry.attempts;
  return limit && run.attempts - run.attempts_base >= *limit;
}

void turn::arm(timer_kind timer, step_path const& step, operation op, timestamp due) {
  emit(armed(timer, step, op, due));
}

void turn::disarm(timer_kind timer, step_path const& step, operation op) {
  cancel_timer_command made;
  made.timer = timer;
  made.step = step;
  made.op = op;
  emit(std::move(made));
}

void turn::end_timers(step_run& run) {
  if (run.retry_due) disarm(timer_kind::retry, run.path, operation::act);
  if (run.timeout_due) disarm(timer_kind::step_timeout, run.path, operation::act);
  run.retry_due.reset();
  run.timeout_due.reset();
}

void turn::end_deadline() {
  if (!state_.deadline_due) return;
  state_.deadline_due.reset();
  disarm(timer_kind::deadline, step_path{}, operation::none);
}

// The forward path ends here. What waits for its next attempt, or for a fallback, is settled now. Calls in flight get the time of one
// attempt: those that have not left are taken back, and what has not answered by then may have been done.
void turn::fail(std::string cause) {
  ATONE_ASSERT(!state_.committed);
  if (state_.failing) return;
  state_.failing = true;
  state_.cause = cut(cause, cause_text_max);
  end_deadline();
  settle_waiting(state_.root);
}

void turn::settle_waiting(frame& of) {
  for_each_run(of, [&](step_run& run) {
    bool const waits = run.phase == run_phase::waiting_retry || run.phase == run_phase::retry_held;
    if (run.phase == run_phase::active) return settle_in_flight(run);
    bool const looks = run.phase == run_phase::looking_up;
    if (!waits && !looks) return;
    if (looks && !run.fallback_due && std::holds_alternative<fallback::call>(run.action()->fallback->use)) {
      abandon_command made;
      made.step = run.path;
      made.op = operation::fallback;
      emit(std::move(made));
    }
    if (looks) run.undo_in.clear();
    run.fallback_due = false;
    run.phase = run.maybe_sent ? run_phase::maybe_done : run_phase::not_done;
    end_timers(run);
  });
}

void turn::settle_in_flight(step_run& run) {
  abandon_command made;
  made.step = run.path;
  made.only_unsent = true;
  emit(std::move(made));
  auto const due = event_.at + run.action()->attempt_timeout;
  if (run.timeout_due && *run.timeout_due <= due) return;
  end_timers(run);
  run.timeout_due = due;
  arm(timer_kind::step_timeout, run.path, operation::act, due);
}

// The step will not succeed by itself: its fallback stands in, or it has failed.
void turn::give_up(step_run& run, fallback::trigger why, std::string text) {
  end_timers(run);
  run.phase = run.maybe_sent ? run_phase::maybe_done : run_phase::not_done;
  if (state_.failing) return;
  auto const& alternative = run.action()->fallback;
  if (alternative && alternative->covers(why)) {
    run.phase = run_phase::looking_up;
    run.fallback_due = true;
    return;
  }
  step_failed(run, std::move(text));
}

void turn::step_failed(step_run& run, std::string text) {
  bool const no_way_back = state_.committed || run.of->promise == atomicity::retriable;
  bool const stuck_pivot =
      run.of->promise == atomicity::pivot && run.maybe_sent && !run.action()->compensate && !planted(planted_bug::pivot_gives_up);
  if (no_way_back || stuck_pivot) return park_step(run, text);
  fail(std::move(text));
}

void turn::park_step(step_run& run, std::string_view why) {
  run.phase = run_phase::parked;
  ++state_.parked_steps;
  if (state_.cause.empty()) state_.cause = cut(why, cause_text_max);
  alert_command made;
  made.step = run.path;
  made.kind = "parked";
  made.level = alert_level::page;
  made.text = cut(why, cause_text_max);
  emit(std::move(made));
}

void turn::unpark_step() {
  ATONE_ASSERT(state_.parked_steps > 0);
  --state_.parked_steps;
}

void turn::retry_later(step_run& run) {
  auto const made = run.attempts - run.attempts_base;
  auto const backed_off = planted(planted_bug::retry_at_once) ? duration{0} : backoff(run.action()->retry, made, event_.random);
  auto const wait = std::max(backed_off, event_.retry_after);
  run.phase = run_phase::waiting_retry;
  run.retry_due = event_.at + wait;
  arm(timer_kind::retry, run.path, operation::act, *run.retry_due);
  if (event_.at - run.first_sent >= slow_after) alert_slow(run, "has been retried since " + format_timestamp(run.first_sent));
}

void turn::alert_slow(step_run& run, std::string_view what) {
  if (run.alerted_slow) return;
  run.alerted_slow = true;
  alert_command made;
  made.step = run.path;
  made.kind = "slow";
  made.text = run.path.text() + " " + std::string{what} + "; last error: " + run.last_error;
  emit(std::move(made));
}

}  // namespace atone::machine
