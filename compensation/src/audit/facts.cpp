#include "facts.hpp"

namespace atone::audit {
namespace {

void note_success(event const& of, step_facts& facts) {
  if (of.op == operation::act) ++facts.act_successes;
  if (of.op == operation::compensate) ++facts.undo_successes;
}

void note_late(event const& of, step_facts& facts) {
  if (of.op != operation::act) return;
  auto const succeeded = of.status >= 200 && of.status < 300 && of.status != 202;
  if (succeeded) facts.act_late_success = true;
  facts.act_unknown = true;
}

// The step's own timer ends a request that may be on its way.
void note_timer(event const& of, step_facts& facts) {
  if (of.timer == timer_kind::step_timeout) facts.act_unknown = true;
}

void note_operator(event const& of, step_facts& facts) {
  facts.operator_touched = true;
  facts.operator_note = of.text;
}

void note_event(event const& of, step_facts& facts) {
  switch (of.kind) {
    case event_kind::step_succeeded: return note_success(of, facts);
    case event_kind::late_answer: return note_late(of, facts);
    case event_kind::timer_fired: return note_timer(of, facts);
    case event_kind::operator_skip:
    case event_kind::operator_complete: return note_operator(of, facts);
    case event_kind::attempt_failed:
      if (of.op == operation::act && of.sureness == certainty::unknown) facts.act_unknown = true;
      return;
    default: return;
  }
}

std::string service_of(target const& what) {
  auto const* call = std::get_if<call_target>(&what);
  return call == nullptr ? std::string{} : call->service;
}

leaf leaf_of(step const& of, action_verb const& verb) {
  leaf made;
  made.promise = of.promise;
  made.act_service = service_of(verb.what);
  if (verb.compensate) {
    made.has_undo = true;
    made.undo_service = service_of(verb.compensate->what);
  }
  if (verb.fallback) {
    if (auto const* call = std::get_if<fallback::call>(&verb.fallback->use)) {
      made.has_fallback_call = true;
      made.fallback_service = service_of(call->what);
    }
  }
  return made;
}

void collect(std::vector<step> const& steps, step_path const& under, leaves& out) {
  for (auto const& each : steps) {
    auto const path = under.child(each.id);
    if (auto const* action = std::get_if<action_verb>(&each.verb)) out.emplace(path, leaf_of(each, *action));
    auto const* parallel = std::get_if<parallel_verb>(&each.verb);
    if (parallel == nullptr) continue;
    for (auto const& branch : parallel->branches) collect(branch.steps, path.child(branch.name), out);
  }
}

}  // namespace

facts_by_step collect_facts(std::vector<event> const& events) {
  facts_by_step facts;
  for (auto const& each : events) {
    if (!each.step.empty()) note_event(each, facts[each.step]);
  }
  return facts;
}

std::optional<std::string> history_gap(saga_facts const& of) {
  if (of.events.empty()) return "the journal has no event of it";
  if (of.events.front().kind != event_kind::started) return "its first event is not `started`";
  std::uint32_t expected = 0;
  for (auto const& each : of.events) {
    ++expected;
    if (each.seq.value() != expected) return "event " + std::to_string(expected) + " is missing";
  }
  if (expected < of.row.last.value()) {
    return "the newest event read is " + std::to_string(expected) + ", the saga's row says " + std::to_string(of.row.last.value());
  }
  return std::nullopt;
}

std::optional<std::string> cause_gap(saga_facts const& of) {
  for (auto const& each : of.events) {
    bool const first = each.seq.value() == 1;
    if (first || (each.cause.value() > 0 && each.cause < each.seq)) continue;
    return "event " + std::to_string(each.seq.value()) + " (" + std::string{name(each.kind)} +
           ") does not say which earlier event it answers";
  }
  return std::nullopt;
}

std::optional<std::string> lock_gap(saga_facts const& of) {
  if (!of.definition->lock) return std::nullopt;
  for (auto const& each : of.events) {
    if (each.kind == event_kind::lock_granted) return std::nullopt;
    if (!each.step.empty()) return each.step.text() + " began without the saga's lock";
  }
  return std::nullopt;
}

leaves collect_leaves(definition const& of) {
  leaves found;
  collect(of.steps, step_path{}, found);
  return found;
}

}  // namespace atone::audit
