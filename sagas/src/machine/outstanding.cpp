// Everything that must be under way in a state: what a take-over sends and arms again.
#include <algorithm>

#include "planted.hpp"
#include "state.hpp"

namespace atone::machine {

arm_timer_command armed(timer_kind kind, step_path const& step, operation op, timestamp due) {
  arm_timer_command made;
  made.timer = kind;
  made.step = step;
  made.op = op;
  made.due = due;
  return made;
}

namespace {

call_command again(call_command call) {
  call.again = true;
  return call;
}

void add_forward(std::vector<command>& out, step_run const& run, definition const& within) {
  if (run.timeout_due) out.emplace_back(armed(timer_kind::step_timeout, run.path, operation::act, *run.timeout_due));
  if (run.retry_due) out.emplace_back(armed(timer_kind::retry, run.path, operation::act, *run.retry_due));
  if (run.phase == run_phase::active) out.emplace_back(again(action_call(run, run.attempts, within)));
  if (run.phase != run_phase::looking_up || run.fallback_due) return;
  if (std::holds_alternative<fallback::call>(run.action()->fallback->use)) {
    out.emplace_back(again(fallback_call(run, within)));
  } else {
    out.emplace_back(run.lookup);
  }
}

void add_undo(std::vector<command>& out, step_run const& run, definition const& within) {
  if (run.undo == undo_phase::active) out.emplace_back(again(compensation_call(run, within)));
  if (run.undo_slow_due) out.emplace_back(armed(timer_kind::step_timeout, run.path, operation::compensate, *run.undo_slow_due));
  if (run.undo_retry_due) out.emplace_back(armed(timer_kind::retry, run.path, operation::compensate, *run.undo_retry_due));
}

}  // namespace

std::vector<command> outstanding_of(saga_state const& of) {
  std::vector<command> out;
  if (of.parked || of.end != ending::none) return out;
  if (of.deadline_due) out.emplace_back(armed(timer_kind::deadline, step_path{}, operation::none, *of.deadline_due));
  if (of.waits_for_lock && !of.failing && !of.paused) out.emplace_back(acquire_lock_command{});
  for_each_run(of.root, [&](step_run const& run) {
    if (run.action() == nullptr) return;
    add_forward(out, run, *of.definition);
    add_undo(out, run, *of.definition);
  });
  return out;
}

std::optional<timestamp> rests_until_of(saga_state const& of) {
  if (of.end != ending::none || !of.lock.empty()) return std::nullopt;
  auto first = wakes_never;
  if (of.parked) return first;
  bool out = false;
  auto const note = [&first](std::optional<timestamp> const& due) { first = due ? std::min(first, *due) : first; };
  note(of.deadline_due);
  for_each_run(of.root, [&](step_run const& run) {
    bool const looking = run.phase == run_phase::looking_up && !run.fallback_due;
    out =
        out || (run.phase == run_phase::active && !planted(planted_bug::rest_with_calls_out)) || looking || run.undo == undo_phase::active;
    note(run.timeout_due);
    note(run.retry_due);
    note(run.undo_slow_due);
    note(run.undo_retry_due);
  });
  return out ? std::nullopt : std::optional{first};
}

}  // namespace atone::machine
