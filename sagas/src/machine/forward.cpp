// The forward path: issues whatever is due in the state that the facts have left.
#include <algorithm>

#include "planted.hpp"
#include "state.hpp"

namespace atone::machine {
namespace {

constexpr std::size_t runs_at_once = 8;  // room for so many runs is made with the first: they are large to move

}  // namespace

void turn::drive() {
  if (state_.paused || state_.parked || state_.end != ending::none) return;
  bool const onward = !state_.waits_for_lock && (!state_.failing || planted(planted_bug::start_more_while_failing));
  if (onward && drive_forward(state_.root) && !state_.failing) complete();
  // Not "else": the forward path may have failed while it was driven.
  if (state_.failing && drive_undo(state_.root)) compensated();
}

// True once every step of the frame is behind it.
bool turn::drive_forward(frame& of) {
  for (;;) {
    if (!of.runs.empty() && !drive_step(of.runs.back())) return false;
    if (of.runs.size() == of.steps->size()) return true;
    begin_step(of);
    if (state_.failing) return false;
  }
}

// True once the step is behind.
bool turn::drive_step(step_run& run) {
  if (run.phase == run_phase::retry_held) send_action(run);
  if (run.phase == run_phase::looking_up && run.fallback_due) begin_fallback(run);
  if (run.phase == run_phase::in_branches) {
    bool all = true;
    for (auto& branch : run.branches) {
      bool const here = drive_forward(branch);
      all = planted(planted_bug::join_too_early) ? here || (all && &branch != &run.branches.front()) : here && all;
      if (state_.failing && !planted(planted_bug::start_more_while_failing)) return false;
    }
    if (all) run.phase = run_phase::done;
  }
  bool const onward = !state_.failing || planted(planted_bug::start_more_while_failing);
  return onward && (run.phase == run_phase::done || run.phase == run_phase::skipped);
}

void turn::begin_step(frame& of) {
  auto const& next = (*of.steps)[of.runs.size()];
  step_run begun;
  begun.of = &next;
  begun.path = of.prefix.child(next.id);
  if (of.runs.empty()) of.runs.reserve(std::min(of.steps->size(), runs_at_once));
  auto& run = of.runs.emplace_back(std::move(begun));
  if (next.when) {
    auto const holds = next.when->evaluate_bool(bindings_for(state_, run.path, mentions{*next.when}));
    if (!holds) {
      run.phase = run_phase::not_done;
      run.last_error = holds.error().message;
      return step_failed(run, run.path.text() + ": `when` could not be decided: " + holds.error().message);
    }
    if (!*holds && !planted(planted_bug::when_is_ignored)) {
      run.phase = run_phase::skipped;
      if (next.promise == atomicity::pivot) {  // passed all the same: what follows it has no way back
        state_.pivot_sent = state_.committed = true;
        end_deadline();
      }
      return;
    }
  }
  if (run.action() != nullptr) return begin_action(run);
  if (std::holds_alternative<parallel_verb>(next.verb)) return begin_parallel(run);
  auto const& text = std::get<fail_verb>(next.verb).reason;
  auto const reason = text.render(bindings_for(state_, run.path, mentions{text}));
  run.phase = run_phase::not_done;
  fail(run.path.text() + ": " + (reason ? *reason : reason.error().message));
}

void turn::begin_action(step_run& run) {
  auto const& action = *run.action();
  auto in = action.in.render(bindings_for(state_, run.path, mentions{action.in}));
  result<call_command> first = in ? make_call(run, action.what, operation::act, 1, *in, action.attempt_timeout, *state_.definition)
                                  : result<call_command>{in.error()};
  if (!first) {
    run.phase = run_phase::not_done;
    run.last_error = first.error().message;
    return step_failed(run, run.path.text() + ": `in` could not be computed: " + first.error().message);
  }
  run.in = std::move(*in);
  run.first_sent = event_.at;
  bool const unbounded = state_.committed || run.of->promise == atomicity::retriable;  // by the deadline: somebody must hear of it
  if (action.timeout || unbounded) {
    run.timeout_due = event_.at + action.timeout.value_or(slow_after);
    arm(timer_kind::step_timeout, run.path, operation::act, *run.timeout_due);
  }
  if (run.of->promise == atomicity::pivot) {
    state_.pivot_sent = true;
    if (!planted(planted_bug::deadline_after_pivot)) end_deadline();
  }
  emit_action(run, std::move(*first));
}

void turn::send_action(step_run& run) {
  emit_action(run, action_call(run, run.attempts + 1, *state_.definition));
}

void turn::emit_action(step_run& run, call_command made) {
  ++run.attempts;
  ATONE_ASSERT(made.n.value() == run.attempts);
  run.phase = run_phase::active;
  run.retry_due.reset();
  emit(std::move(made));
}

void turn::begin_parallel(step_run& run) {
  run.phase = run_phase::in_branches;
  for (auto const& branch : std::get<parallel_verb>(run.of->verb).branches) {
    frame begun;
    begun.of = &branch;
    begun.steps = &branch.steps;
    begun.prefix = run.path.child(branch.name);
    run.branches.push_back(std::move(begun));
  }
}

void turn::begin_fallback(step_run& run) {
  auto const& alternative = *run.action()->fallback;
  run.fallback_due = false;
  if (auto const* constant = std::get_if<fallback::constant>(&alternative.use)) {
    auto value = constant->value.render(bindings_for(state_, run.path, mentions{constant->value}));
    if (!value) {
      run.last_error = value.error().message;
      return fallback_ended(run, false);
    }
    run.output = std::move(*value);
    return fallback_ended(run, true);
  }
  if (auto const* other = std::get_if<fallback::call>(&alternative.use)) {
    auto in = other->in.render(bindings_for(state_, run.path, mentions{other->in}));
    auto const call = in ? make_call(run, other->what, operation::fallback, 1, *in, other->attempt_timeout, *state_.definition)
                         : result<call_command>{in.error()};
    if (!call) {
      run.last_error = call.error().message;
      return fallback_ended(run, false);
    }
    run.undo_in = std::move(*in);  // the fallback's request, until it is answered
    emit(*call);
    return;
  }
  auto const& last = std::get<fallback::last_output>(alternative.use);
  auto const key = last.key.evaluate(bindings_for(state_, run.path, mentions{last.key}));
  if (!key) {
    run.last_error = key.error().message;
    return fallback_ended(run, false);
  }
  run.lookup.step = run.path;
  run.lookup.key = std::string{key->raw()};
  run.lookup.not_before = event_.at - last.max_age;
  emit(run.lookup);
}

void turn::complete() {
  auto const& shape = state_.definition->output;
  state_.output = "null";
  if (shape) {
    auto made = shape->render(bindings_for(state_, step_path{}, mentions{*shape}));
    if (made) {
      state_.output = std::move(*made);
    } else {
      // Every effect is in place: the saga is completed, whatever its summary says. A person is told.
      alert_command told;
      told.kind = "output";
      told.text = "`output` could not be computed: " + made.error().message;
      emit(std::move(told));
    }
  }
  state_.end = ending::completed;
  end_deadline();
}

void turn::compensated() {
  state_.end = ending::compensated;
  end_deadline();
}

}  // namespace atone::machine
