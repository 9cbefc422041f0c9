// The way back: strict reverse of completion inside a sequence, each acknowledged before the next starts; branches of a
// parallel step undo side by side, and the steps before it wait for all of them.
#include <algorithm>

#include "planted.hpp"
#include "state.hpp"

namespace atone::machine {

// True once nothing of the frame is left to undo.
bool turn::drive_undo(frame& of) {
  if (planted(planted_bug::forward_order_of_undo))
    return std::all_of(of.runs.begin(), of.runs.end(), [&](step_run& run) { return undo_step(run); });
  if (planted(planted_bug::overlapping_undo))
    return std::count_if(of.runs.rbegin(), of.runs.rend(), [&](step_run& run) { return !undo_step(run); }) == 0;
  return std::all_of(of.runs.rbegin(), of.runs.rend(), [&](step_run& run) { return undo_step(run); });
}

// True once the step is undone, or never had an effect.
bool turn::undo_step(step_run& run) {
  if (!run.branches.empty()) return undo_branches(run);
  if (run.phase == run_phase::active || run.phase == run_phase::looking_up || run.phase == run_phase::parked) return false;
  if (!has_effect(run) || !run.action()->compensate) return true;
  if (run.undo == undo_phase::none) begin_compensation(run);
  if (run.undo == undo_phase::retry_held) send_compensation(run);
  return run.undo == undo_phase::done || run.undo == undo_phase::skipped;
}

// Every branch goes on by itself: none waits for its siblings.
bool turn::undo_branches(step_run& run) {
  bool all = true;
  if (planted(planted_bug::forget_the_branches)) return true;
  for (auto& branch : run.branches) all = drive_undo(branch) && all;
  if (all) run.undo = undo_phase::done;
  return all;
}

void turn::begin_compensation(step_run& run) {
  auto const& how = *run.action()->compensate;
  auto in = how.in.render(undo_bindings(state_, run, mentions{how.in}));
  if (in) {
    auto const possible = make_call(run, how.what, operation::compensate, 1, *in, how.attempt_timeout, *state_.definition);
    if (!possible) in = result<std::string>{possible.error()};
  }
  if (!in) return park_undo(run, "`compensate.in` could not be computed: " + in.error().message);
  run.undo_in = std::move(*in);
  run.undo_first_sent = event_.at;
  send_compensation(run);
}

void turn::send_compensation(step_run& run) {
  ++run.undo_attempts;
  run.undo = undo_phase::active;
  auto const limit = run.action()->compensate->limit;
  if (!run.undo_slow_due) watch_undo(run, run.undo_first_sent + std::min(slow_after, limit));
  run.undo_retry_due.reset();
  log_compensation_command logged;
  logged.step = run.path;
  logged.attempts = run.undo_attempts;
  logged.last_error = run.undo_attempts > 1 ? run.last_error : std::string{};
  emit(std::move(logged));
  emit(compensation_call(run, *state_.definition));
}

// An attempt may hang where nothing bounds it (a local handler, an address that refuses connections): then no answer comes to decide on.
void turn::watch_undo(step_run& run, timestamp due) {
  run.undo_slow_due = due;
  arm(timer_kind::step_timeout, run.path, operation::compensate, due);
}

void turn::end_undo_watch(step_run& run) {
  if (!run.undo_slow_due) return;
  run.undo_slow_due.reset();
  disarm(timer_kind::step_timeout, run.path, operation::compensate);
}

void turn::undo_slow(step_run& run) {
  run.undo_slow_due.reset();
  auto const limit = run.action()->compensate->limit;
  if (event_.at < run.undo_first_sent + limit) {
    alert_slow(run, "is being compensated since " + format_timestamp(run.undo_first_sent));
    return watch_undo(run, run.undo_first_sent + limit);
  }
  if (run.undo == undo_phase::active) {
    abandon_command made;
    made.step = run.path;
    made.op = operation::compensate;
    emit(std::move(made));
  }
  if (run.undo_retry_due) {
    run.undo_retry_due.reset();
    disarm(timer_kind::retry, run.path, operation::compensate);
  }
  park_undo(run, "compensation is not done after " + format_duration(limit) + ", which is its limit; last error: " + run.last_error);
}

void turn::undo_succeeded(step_run& run) {
  end_undo_watch(run);
  run.undo = undo_phase::done;
  log_compensation_command logged;
  logged.step = run.path;
  logged.status = compensation_status::success;
  logged.attempts = run.undo_attempts;
  emit(std::move(logged));
}

void turn::undo_refused(step_run& run) {
  if (planted(planted_bug::refused_undo_is_done)) return undo_succeeded(run);
  run.last_error = cut(event_.text);
  park_undo(run, "compensation was refused: " + run.last_error);
}

void turn::undo_attempt_failed(step_run& run) {
  auto const& how = *run.action()->compensate;
  run.last_error = cut(event_.text);
  auto const made = run.undo_attempts - run.undo_base;
  bool const spent = how.retry.attempts && made >= *how.retry.attempts && !planted(planted_bug::undo_without_limit);
  if (spent || planted(planted_bug::park_for_nothing)) {
    return park_undo(run, "compensation failed " + std::to_string(made) + " times, which is its limit; last error: " + run.last_error);
  }
  auto const due = event_.at + std::max(backoff(how.retry, made, event_.random), event_.retry_after);
  if (due - run.undo_first_sent > how.limit) {
    return park_undo(run, "compensation failed for " + format_duration(how.limit) + ", which is its limit; last error: " + run.last_error);
  }
  run.undo = undo_phase::waiting_retry;
  run.undo_retry_due = due;
  arm(timer_kind::retry, run.path, operation::compensate, due);
  if (event_.at - run.undo_first_sent >= slow_after) alert_slow(run, "is being compensated since " + format_timestamp(run.undo_first_sent));
}

void turn::park_undo(step_run& run, std::string_view why) {
  end_undo_watch(run);
  run.undo = undo_phase::parked;
  ++state_.parked_steps;
  run.last_error = cut(why, cause_text_max);
  log_compensation_command logged;
  logged.step = run.path;
  logged.status = compensation_status::failed;
  logged.attempts = run.undo_attempts;
  logged.last_error = run.last_error;
  emit(std::move(logged));
  alert_command made;
  made.step = run.path;
  made.kind = "parked";
  made.level = alert_level::page;
  made.text = run.path.text() + ": " + run.last_error;
  emit(std::move(made));
}

}  // namespace atone::machine
