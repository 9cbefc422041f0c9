// What an event says: recorded first, nothing is sent from here.
#include "planted.hpp"
#include "state.hpp"

namespace atone::machine {

void turn::run() {
  auto* const at = event_.step.empty() ? nullptr : find_run(state_.root, event_.step);
  switch (event_.kind) {
    case event_kind::started: on_started(); break;
    case event_kind::step_succeeded: on_succeeded(*at); break;
    case event_kind::step_refused: on_refused(*at); break;
    case event_kind::attempt_failed: on_attempt_failed(*at); break;
    case event_kind::timer_fired: on_timer(at); break;
    case event_kind::last_output_found:
    case event_kind::last_output_missing: on_last_output(*at); break;
    case event_kind::late_answer: return;  // recorded, not used
    case event_kind::cancel_requested:
      if (planted(planted_bug::cancel_is_ignored)) break;
      if (state_.parked) settle_parked();
      fail("cancelled" + (event_.actor.empty() ? "" : " by " + event_.actor) + (event_.text.empty() ? "" : ": " + event_.text));
      break;
    case event_kind::pause_requested: state_.paused = true; return;
    case event_kind::resume_requested:
      state_.paused = false;
      if (state_.waits_for_lock && !state_.failing && !state_.parked) emit(acquire_lock_command{});
      break;
    case event_kind::operator_retry: on_operator_retry(at); break;
    case event_kind::operator_skip: on_operator_skip(*at); break;
    case event_kind::operator_complete: on_operator_complete(*at); break;
    case event_kind::parked:
      state_.parked = true;
      if (state_.cause.empty()) state_.cause = cut(event_.text);
      return;
    case event_kind::lock_granted: state_.waits_for_lock = false; break;
  }
  drive();
}

void turn::on_started() {
  ATONE_ASSERT(state_.input.raw().size() <= event_.payload.size());  // accept.cpp has parsed it
  state_.started_at = event_.at;
  state_.deadline_due = event_.at + state_.definition->deadline;
  arm(timer_kind::deadline, step_path{}, operation::none, *state_.deadline_due);
  if (state_.lock.empty()) return;
  state_.waits_for_lock = true;
  emit(acquire_lock_command{});
}

void turn::on_succeeded(step_run& run) {
  if (event_.op == operation::compensate) return undo_succeeded(run);
  if (event_.op == operation::fallback) {
    auto const readable = json::parse(event_.payload.empty() ? "null" : event_.payload);
    if (readable) run.output = event_.payload.empty() ? "null" : event_.payload;
    if (!readable) run.last_error = "the fallback's answer is not JSON: " + readable.error().message;
    return fallback_ended(run, readable.has_value());
  }
  action_succeeded(run);
}

void turn::action_succeeded(step_run& run) {
  auto const& action = *run.action();
  end_timers(run);
  run.answer = event_.payload.empty() ? "null" : event_.payload;
  auto const parsed = json::parse(run.answer);
  std::string wrong;
  if (!parsed) {
    run.answer.clear();
    if (action.out) wrong = "is not JSON: " + parsed.error().message;
  } else if (action.out) {
    auto const violations = action.out->validate(*parsed);
    if (!violations.empty())
      wrong = "does not fit `out`" + (violations[0].at.empty() ? "" : " at " + violations[0].at) + ": " + violations[0].message;
  }
  state_.output_bytes += run.answer.size();
  if (state_.output_bytes > output_bytes_max)
    wrong = "is too much: this saga's answers are over " + std::to_string(output_bytes_max) + " bytes together";
  if (run.of->promise == atomicity::pivot) state_.committed = !state_.failing;
  if (planted(planted_bug::deadline_after_pivot) && state_.committed) end_deadline();
  if (!wrong.empty()) {
    state_.output_bytes -= run.answer.size();
    // Done, but its answer is of no use: later steps can't go on with it, and its compensation must not see it.
    run.answer.clear();
    run.maybe_sent = true;
    run.phase = run_phase::maybe_done;
    run.last_error = "the answer " + wrong;
    if (!state_.failing) step_failed(run, run.path.text() + ": the answer " + wrong);
    return;
  }
  run.phase = run_phase::done;
  run.output = run.answer;
  remember_output(run);
}

// For `fallback: last_output` of later sagas.
void turn::remember_output(step_run const& run) {
  auto const& alternative = run.action()->fallback;
  auto const* const last = alternative ? std::get_if<fallback::last_output>(&alternative->use) : nullptr;
  if (last == nullptr) return;
  auto const key = last->key.evaluate(bindings_for(state_, run.path, mentions{last->key}));
  if (!key) return;
  record_output_command record;
  record.step = run.path;
  record.key = std::string{key->raw()};
  if (record.key.size() > output_key_max) {
    alert_command told;
    told.step = run.path;
    told.kind = "last output";
    told.text =
        run.path.text() + ": the key of its last output is over " + std::to_string(output_key_max) + " bytes; the output is not kept";
    return emit(std::move(told));
  }
  record.output = run.output;
  emit(std::move(record));
}

void turn::on_refused(step_run& run) {
  if (event_.op == operation::compensate) return undo_refused(run);
  run.last_error = cut(event_.text);
  if (event_.op == operation::fallback) return fallback_ended(run, false);
  action_refused(run);
}

// A refusal after an attempt of unknown outcome does not take the doubt away: 409 often means "already exists".
void turn::action_refused(step_run& run) {
  if (planted(planted_bug::refusal_is_retried)) return action_attempt_failed(run);
  run.maybe_sent = run.maybe_sent || event_.sureness == certainty::unknown;
  auto text = run.path.text() + " refused: " + (event_.status != 0 ? std::to_string(event_.status) + " " : "") + run.last_error +
              " (attempt " + std::to_string(event_.n.value()) + ")";
  give_up(run, fallback::trigger::refused, std::move(text));
}

void turn::on_attempt_failed(step_run& run) {
  if (event_.op == operation::compensate) return undo_attempt_failed(run);
  run.last_error = cut(event_.text);
  if (event_.op == operation::fallback) return fallback_ended(run, false);
  action_attempt_failed(run);
}

void turn::action_attempt_failed(step_run& run) {
  run.maybe_sent = run.maybe_sent || (event_.sureness == certainty::unknown && !planted(planted_bug::forget_unknown));
  bool const has_alternative = run.action()->fallback && run.action()->fallback->covers(fallback::trigger::unavailable);
  bool const spent = attempts_spent(run) && (!until_done(run) || has_alternative);
  if (!state_.failing && !spent) return retry_later(run);
  give_up(run, fallback::trigger::unavailable,
          run.path.text() + " failed " + std::to_string(run.attempts - run.attempts_base) + " times; last error: " + run.last_error);
}

void turn::on_timer(step_run* run) {
  switch (event_.timer) {
    case timer_kind::deadline:
      state_.deadline_due.reset();
      return fail("the deadline of " + format_duration(state_.definition->deadline) + " passed");
    case timer_kind::step_timeout: return event_.op == operation::compensate ? undo_slow(*run) : step_timed_out(*run);
    case timer_kind::retry:
      if (event_.op == operation::compensate) {
        run->undo = undo_phase::retry_held;
        run->undo_retry_due.reset();
      } else {
        run->phase = run_phase::retry_held;
        run->retry_due.reset();
      }
      return;
    case timer_kind::none: return;
  }
}

bool gives_up_at_timeout(saga_state const& of, step_run const& run) noexcept {
  if (of.failing) return true;
  if (!run.action()->timeout) return false;
  if (run.action()->fallback && run.action()->fallback->covers(fallback::trigger::timeout)) return true;
  bool const until_done = of.committed || run.of->promise == atomicity::retriable;
  return !until_done && !(run.of->promise == atomicity::pivot && (run.maybe_sent || run.phase == run_phase::active));
}

// An event whose sureness is not_done says that the call in flight never left.
void turn::step_timed_out(step_run& run) {
  run.timeout_due.reset();
  auto const after = format_duration(run.action()->timeout.value_or(slow_after));
  if (!gives_up_at_timeout(state_, run)) return alert_slow(run, "is not done after " + after);
  bool const in_flight = run.phase == run_phase::active;
  if (in_flight) {
    // A statement is done together with its record: without one it has not been done, and must not be undone.
    bool const with_its_record = std::holds_alternative<sql_target>(run.action()->what) || planted(planted_bug::timeout_is_certain);
    run.maybe_sent = run.maybe_sent || (!with_its_record && event_.sureness != certainty::not_done);
    abandon_command made;
    made.step = run.path;
    emit(std::move(made));
  }
  if (state_.failing) {  // what was in flight when the saga failed has had its time
    if (in_flight) run.last_error = "no answer came after the saga had failed";
    run.phase = run.maybe_sent ? run_phase::maybe_done : run_phase::not_done;
    return;
  }
  auto text = run.path.text() + " timed out after " + after + (run.last_error.empty() ? "" : "; last error: " + run.last_error);
  run.last_error = "timed out after " + after;
  give_up(run, fallback::trigger::timeout, std::move(text));
}

void turn::on_last_output(step_run& run) {
  bool const found = event_.kind == event_kind::last_output_found;
  if (found) {
    run.output = event_.payload;
  } else {
    run.last_error += "; no last output young enough for its fallback";
  }
  fallback_ended(run, found);
}

// The fallback replaces the output, not the fact: whether the step has an effect stays as it was.
void turn::fallback_ended(step_run& run, bool found) {
  run.undo_in.clear();
  if (!found) {
    run.phase = run.maybe_sent ? run_phase::maybe_done : run_phase::not_done;
    if (!state_.failing) step_failed(run, run.path.text() + " failed and its fallback had nothing to offer: " + run.last_error);
    return;
  }
  run.phase = run_phase::done;
  run.fell_back = true;
  auto const& level = run.action()->fallback->alert;
  if (!level) return;
  alert_command made;
  made.step = run.path;
  made.kind = "fallback";
  made.level = *level;
  made.text = run.path.text() + " is served by its fallback: " + run.last_error;
  emit(std::move(made));
}

void turn::on_operator_retry(step_run* run) {
  if (run == nullptr) return go_on_unparked(nullptr);
  if (run->undo == undo_phase::parked || run->undo == undo_phase::waiting_retry) {
    if (run->undo == undo_phase::parked) {
      unpark_step();
      run->undo_base = run->undo_attempts;
      run->undo_first_sent = event_.at;
      if (run->undo_in.empty()) {  // it never got as far as being sent
        run->undo = undo_phase::none;
        return;
      }
    }
    if (run->undo_retry_due) {
      disarm(timer_kind::retry, run->path, operation::compensate);
    }
    run->undo = undo_phase::retry_held;
    return;
  }
  if (run->phase == run_phase::parked) {
    unpark_step();
    run->attempts_base = run->attempts;
    run->first_sent = event_.at;
    run->alerted_slow = false;
  } else if (run->retry_due) {
    disarm(timer_kind::retry, run->path, operation::act);
    run->retry_due.reset();
  }
  run->phase = run_phase::retry_held;
}

// The saga itself was parked: everything that was under way goes out again, but for the step that a person has settled.
void turn::go_on_unparked(step_run const* except) {
  state_.parked = false;
  for (auto& again : outstanding_of(state_)) {
    auto const* const call = std::get_if<call_command>(&again);
    if (call != nullptr && except != nullptr && call->step == except->path) continue;
    out_.push_back(std::move(again));
  }
}

// Cancelled while the saga itself is parked: no timer is armed, nothing is in flight that anyone waits for, and what was may have been
// done.
void turn::settle_parked() {
  state_.parked = false;
  state_.deadline_due.reset();
  for_each_run(state_.root, [&](step_run& run) {
    run.retry_due.reset();
    run.timeout_due.reset();
    if (run.phase != run_phase::active) return;
    run.maybe_sent = run.maybe_sent || !std::holds_alternative<sql_target>(run.action()->what);
    run.phase = run.maybe_sent ? run_phase::maybe_done : run_phase::not_done;
  });
}

// A person decides about a step that is parked, or that was at work when the saga itself was parked.
void turn::settle_by_operator(step_run& run) {
  bool const own = run.undo == undo_phase::parked || run.phase == run_phase::parked;
  if (own) return unpark_step();
  ATONE_ASSERT(state_.parked);
  go_on_unparked(&run);
  if (run.undo == undo_phase::active) {
    end_undo_watch(run);
    run.undo = undo_phase::parked;
  } else {
    end_timers(run);
  }
}

void turn::on_operator_skip(step_run& run) {
  settle_by_operator(run);
  if (run.undo == undo_phase::parked) {
    run.undo = undo_phase::skipped;
    log_compensation_command logged;
    logged.step = run.path;
    logged.status = compensation_status::skipped;
    logged.attempts = run.undo_attempts;
    logged.last_error = "skipped by " + event_.actor + ": " + cut(event_.text);
    emit(std::move(logged));
    return;
  }
  // A person says that the step has no effect. The pivot not done means the way back; anything after it is left out.
  run.maybe_sent = false;
  bool const is_pivot = run.of->promise == atomicity::pivot && !state_.committed;
  run.phase = is_pivot ? run_phase::not_done : run_phase::skipped;
  if (is_pivot) fail(state_.cause.empty() ? "pivot skipped by " + event_.actor : state_.cause);
}

void turn::on_operator_complete(step_run& run) {
  settle_by_operator(run);
  if (run.undo == undo_phase::parked) return undo_succeeded(run);
  run.phase = run_phase::done;
  run.output = event_.payload;
  run.answer = event_.payload;
  if (run.of->promise == atomicity::pivot) state_.committed = true;
}

}  // namespace atone::machine
