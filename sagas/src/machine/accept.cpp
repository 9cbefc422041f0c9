// Whether an event may be applied in a state. Refusing changes nothing; an event that was journalled is never refused.
#include "planted.hpp"
#include "state.hpp"

namespace atone::machine {
namespace {

error conflict(std::string text) {
  return error{errc::conflict, std::move(text)};
}

std::optional<error> refuse_answer(step_run const& run, event const& next) {
  if (waits_for(run, next.op, next.n)) return std::nullopt;
  return conflict(next.step.text() + " does not wait for attempt " + std::to_string(next.n.value()) + " of " + std::string{name(next.op)});
}

std::optional<error> refuse_timer(saga_state const& of, step_run const* run, event const& next) {
  auto const stale = conflict("the timer " + std::string{name(next.timer)} + " of " + next.step.text() + " is no longer armed");
  switch (next.timer) {
    case timer_kind::deadline: return of.deadline_due ? std::nullopt : std::optional{stale};
    case timer_kind::step_timeout:
      if (run == nullptr) return stale;
      if (!(next.op == operation::compensate ? run->undo_slow_due : run->timeout_due)) return stale;
      return std::nullopt;
    case timer_kind::retry: {
      if (run == nullptr) return stale;
      bool const armed = next.op == operation::compensate ? run->undo_retry_due.has_value() : run->retry_due.has_value();
      return armed ? std::nullopt : std::optional{stale};
    }
    case timer_kind::none: return stale;
  }
  return stale;
}

std::optional<error> refuse_operator(saga_state const& of, step_run const* run, event const& next) {
  if (next.kind == event_kind::operator_retry && next.step.empty()) {
    return of.parked ? std::nullopt : std::optional{conflict("the saga itself is not parked; name the parked step")};
  }
  if (run == nullptr) return error{errc::not_found, "the saga has not reached a step '" + next.step.text() + "'"};
  bool const parked = run->undo == undo_phase::parked || run->phase == run_phase::parked;
  bool const waits = run->undo == undo_phase::waiting_retry || run->phase == run_phase::waiting_retry;
  // Parked by the runtime: what was at work then is what a person may settle.
  bool const was_at_work = of.parked && (run->undo == undo_phase::active || run->phase == run_phase::active);
  bool const never_sent = run->phase == run_phase::parked && run->attempts == 0;
  if (never_sent && next.kind == event_kind::operator_retry) {
    return conflict(next.step.text() + " could not be computed, and would not be now: skip it, or complete it with an output");
  }
  if (was_at_work && next.kind != event_kind::operator_retry) return std::nullopt;
  if (parked || (waits && next.kind == event_kind::operator_retry)) return std::nullopt;
  return conflict(next.step.text() + " is not parked");
}

// Nothing: the definition has none.
result<std::string> lock_of(definition const& bound_to, json::value const& input) {
  if (!bound_to.lock) return std::string{};
  expr::bindings values;
  values.emplace("input", input);
  auto const value = bound_to.lock->evaluate(values);
  if (!value) return error{errc::invalid_argument, "lock: " + value.error().message};
  auto text = json::canonical(*value);
  if (text.size() <= lock_bytes_max) return text;
  return error{errc::invalid_argument, "lock: its value is over " + std::to_string(lock_bytes_max) + " bytes"};
}

std::optional<error> refuse_started(saga_state& of, event const& next) {
  if (of.last.value() != 0) return conflict("the saga has been started already");
  auto input = json::parse(next.payload);
  if (!input) return error{errc::invalid_argument, "input: " + input.error().message};
  auto const violations = of.definition->input ? of.definition->input->validate(*input) : std::vector<schema_violation>{};
  if (violations.empty()) {
    auto lock = lock_of(*of.definition, *input);
    if (!lock) return error{errc::invalid_argument, lock.error().message};
    of.lock = std::move(*lock);
    of.input = std::move(*input);  // parsed once: applying it begins with this
    return std::nullopt;
  }
  std::string text;
  for (auto const& one : violations) text += (text.empty() ? "" : "; ") + ("input" + one.at + ": " + one.message);
  return error{errc::invalid_argument, std::move(text)};
}

}  // namespace

bool waits_for(step_run const& run, operation op, attempt n) noexcept {
  switch (op) {
    case operation::act: return run.phase == run_phase::active && n.value() == run.attempts;
    case operation::compensate: return run.undo == undo_phase::active && n.value() == run.undo_attempts;
    case operation::fallback: return run.phase == run_phase::looking_up && !run.fallback_due;
    default: return false;
  }
}

std::optional<error> refuse(saga_state& of, event const& next) {
  if (next.kind == event_kind::started) return refuse_started(of, next);
  if (next.kind == event_kind::late_answer) return std::nullopt;
  if (of.end != ending::none) return conflict("the saga has ended");
  auto const* const run = next.step.empty() ? nullptr : find_run(of.root, next.step);
  switch (next.kind) {
    case event_kind::step_succeeded:
    case event_kind::step_refused:
    case event_kind::attempt_failed:
      if (run == nullptr) return error{errc::not_found, "the saga has not reached a step '" + next.step.text() + "'"};
      return refuse_answer(*run, next);
    case event_kind::last_output_found:
    case event_kind::last_output_missing:
      if (run == nullptr || run->phase != run_phase::looking_up || run->fallback_due) return conflict("nobody looks up a last output");
      return std::nullopt;
    case event_kind::timer_fired: return refuse_timer(of, run, next);
    case event_kind::cancel_requested:
      if (of.failing) return conflict("the saga is being compensated already");
      if (of.pivot_sent && (of.committed || !planted(planted_bug::cancel_after_pivot)))
        return conflict("the pivot has been sent: the saga can only go forward");
      return std::nullopt;
    case event_kind::pause_requested: return of.paused ? std::optional{conflict("the saga is paused already")} : std::nullopt;
    case event_kind::resume_requested: return of.paused ? std::nullopt : std::optional{conflict("the saga is not paused")};
    case event_kind::operator_complete:
      if (auto const output = json::parse(next.payload); !output) return error{errc::invalid_argument, "output: " + output.error().message};
      [[fallthrough]];
    case event_kind::operator_retry:
    case event_kind::operator_skip: return refuse_operator(of, run, next);
    case event_kind::parked: return of.parked ? std::optional{conflict("the saga is parked already")} : std::nullopt;
    case event_kind::lock_granted:
      if (of.waits_for_lock && !of.failing && !of.paused && !of.parked) return std::nullopt;
      return conflict("the saga does not wait for its lock");
    case event_kind::started:
    case event_kind::late_answer: break;
  }
  return std::nullopt;
}

}  // namespace atone::machine
