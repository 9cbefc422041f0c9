// What leaves a coordinator, and what the participants do with it.
#include <algorithm>

#include "judge.hpp"
#include "judge_facts.hpp"

namespace atone::simulation {
namespace {

constexpr duration pace_slack = std::chrono::milliseconds{100};  // clocks are estimates
constexpr duration deadline_slack = std::chrono::seconds{120};   // for crashes, take-overs and outages

}  // namespace

void judge::sent(std::optional<writer_number> by, runtime::outgoing_call const& call) {
  ++checks_;
  auto* const of = find(call.saga);
  if (of == nullptr) return wrong("durable-first", "a request of a saga that is not durable");
  auto const what = std::string{name(call.op)} + " of " + call.step.text() + ", attempt " + std::to_string(call.n.value());
  if (of->ended) return wrong("after-end", *of, what + " was sent after the end");
  check_owner(*of, by, call);
  if (!of->shadow.expects(call.step, call.op, call.n)) {
    wrong("durable-first", *of, what + " was sent, and nothing in the journal asks for it");
  }
  auto const plan = of->of->steps.find(call.step.text());
  if (plan == of->of->steps.end()) return wrong("forward-order", *of, what + ": there is no such step");
  if (auto const& lock = of->shadow.lock(); !lock.empty()) {
    auto const holder = locks_.find(lock);
    if (holder == locks_.end() || holder->second != of->id) wrong("lock", *of, what + " was sent without its lock");
  }
  if (call.op == operation::act) check_action(*of, plan->second, call);
  if (call.op == operation::compensate) check_undo(*of, plan->second, call);
}

void judge::left(std::optional<writer_number> by, runtime::outgoing_call const& call) {
  ++checks_;
  auto* const of = find(call.saga);
  if (of == nullptr) return;
  if (of->ended) wrong("after-end", *of, std::string{name(call.op)} + " of " + call.step.text() + " left after the end");
  if (by && leases_[of->home].writer != by) wrong("owner", *of, "a request left a coordinator that does not drive its shard");
}

// One owner at a time; whoever follows has a higher epoch.
void judge::check_owner(saga_case& of, std::optional<writer_number> by, runtime::outgoing_call const& call) {
  if (by) {
    auto const& lease = leases_[of.home];
    if (lease.writer != by) wrong("owner", of, "a request of writer " + std::to_string(by->value()) + ", which does not drive its shard");
  }
  if (call.epoch < of.newest) wrong("owner", of, "a request under an epoch that is over");
  if (call.epoch == of.newest && of.sender && by && *of.sender != *by) wrong("owner", of, "two coordinators sent under one epoch");
  of.newest = std::max(of.newest, call.epoch);
  of.sender = by;
}

void judge::check_action(saga_case& of, step_plan const& plan, runtime::outgoing_call const& call) {
  auto& known = facts(of, plan.path);
  auto const n = call.n.value();
  bool const first_time = n > known.act_n;
  if (n > known.act_n + 1) wrong("attempts", of, plan.path + ": attempt " + std::to_string(n) + " after " + std::to_string(known.act_n));
  if (!first_time) return;
  if (of.turned && n > known.begun) wrong("decision", of, plan.path + " was begun after the saga had turned round");
  if (known.done || known.by_person) wrong("decision", of, plan.path + " is called again though it is settled");
  if (known.refusals > known.retries) wrong("attempts", of, plan.path + " is called again after a refusal");
  check_before(of, plan);
  check_pace(of, plan, known);
  bool const bounded = plan.attempts && (plan.kind == promise::compensable || (plan.kind == promise::read_only && !of.pivot_done));
  bool const after_pivot = of.of->pivot && of.of->pivot_flag >= 0;  // left out, it counts as passed
  if (bounded && !after_pivot && n > *plan.attempts * (known.retries + 1)) {
    wrong("attempts", of, plan.path + ": attempt " + std::to_string(n) + " of " + std::to_string(*plan.attempts));
  }
  bool const hurried = of.of->deadline && plan.kind == promise::compensable && !of.was_parked && steady_;
  if (hurried && now_() > of.begun + *of.of->deadline + deadline_slack) wrong("deadline", of, plan.path + " was begun after the deadline");
  known.act_n = n;
  known.act_at = now_();
}

// What stands before it in its sequence is behind it.
void judge::check_before(saga_case& of, step_plan const& plan) {
  auto const set = [&](step_plan const& one) {
    return std::all_of(one.flags.begin(), one.flags.end(), [&](int flag) { return of.with.flags.at(static_cast<std::size_t>(flag)); });
  };
  if (!set(plan)) wrong("forward-order", of, plan.path + " was called though its `when` is false");
  for (auto const& fail : of.of->fails) {
    if (set(fail) && compare(fail.where, plan.where) == order_of::before)
      wrong("forward-order", of, plan.path + " was called behind a `fail`");
  }
  for (auto const& [path, other] : of.of->steps) {
    if (compare(other.where, plan.where) != order_of::before || !set(other)) continue;
    auto const& before = facts(of, path);
    bool const stood_in = other.instead != stand_in::none && before.gave_up;
    if (!before.done && !before.by_person && !stood_in) {
      wrong("forward-order", of, plan.path + " was called before " + path + " was done");
    }
  }
}

void judge::check_pace(saga_case& of, step_plan const& plan, step_facts const& known) {
  if (known.act_n == 0 || !steady_ || known.retries > 0) return;
  if (now_() - known.act_at + pace_slack < plan.least_delay) wrong("pace", of, plan.path + " was tried again too soon");
}

void judge::check_undo(saga_case& of, step_plan const& plan, runtime::outgoing_call const& call) {
  auto& known = facts(of, plan.path);
  auto const n = call.n.value();
  turn(of);
  if (!plan.has_undo) wrong("undo-needed", of, plan.path + " has no compensation");
  if (known.undo_n == 0 && surely_no_effect(of, plan, known))
    wrong("undo-needed", of, plan.path + " is compensated, and surely was not done");
  if (known.undone) wrong("undo-needed", of, plan.path + " is compensated though the journal says that it was");
  if (of.pivot_done) wrong("decision", of, plan.path + " is compensated after the pivot");
  if (n > known.undo_n && plan.undo_attempts && n > *plan.undo_attempts * (known.retries + 1)) {
    wrong("attempts", of, plan.path + ": compensation " + std::to_string(n) + " of " + std::to_string(*plan.undo_attempts));
  }
  if (known.undo_n == 0) known.undo_first = now_();
  known.undo_n = std::max(known.undo_n, n);
  for (auto const& [path, other] : of.of->steps) {
    if (compare(plan.where, other.where) != order_of::before || other.kind == promise::read_only) continue;
    auto const& later = facts(of, path);
    if (later.by_person) continue;
    if (later.actions > later.undos) wrong("undo-order", of, plan.path + " is compensated before " + path + ", which still has its effect");
    if (later.undo_n > 0 && !later.undone) wrong("undo-order", of, plan.path + " is compensated before " + path + " is known to be");
  }
}

// Nothing in the journal asks for it, or every attempt that does is journalled as one that did nothing.
bool judge::surely_no_effect(saga_case const& of, step_plan const& plan, step_facts const& known) const {
  if (known.done || known.by_person) return false;
  auto const steps = of.shadow.steps();
  auto const at = std::find_if(steps.begin(), steps.end(), [&](step_view const& one) { return one.path.text() == plan.path; });
  return at == steps.end() || known.sure_no >= at->attempts;
}

void judge::delivered(delivery const& what) {
  ++checks_;
  auto* const of = find(what.saga);
  if (of == nullptr) return wrong("durable-first", "a participant heard of a saga that is not durable");
  auto& known = facts(*of, what.step);
  bool const act = what.op == operation::act;
  if (what.what == deed::refused) (act ? known.refused : known.undo_refused) = true;
  if (act && !what.fits) known.odd_answer = true;
  if (what.what != deed::applied) return;
  if (act) {
    known.value = what.value;
    if (++known.actions > 1) wrong("effects-once", *of, what.step + " was done " + std::to_string(known.actions) + " times");
    auto const plan = of->of->steps.find(what.step);
    if (what.read && plan != of->of->steps.end() && !plan->second.reads.empty()) {
      auto const& from = facts(*of, plan->second.reads);
      bool const nothing = *what.read == -1 && plan->second.reads_guarded;
      if (!nothing && !from.by_person && *what.read != from.value) {
        wrong("payload", *of, what.step + " was sent " + std::to_string(*what.read) + " for what " + plan->second.reads + " answered");
      }
    }
    return;
  }
  if (++known.undos > 1) wrong("effects-once", *of, what.step + " was compensated " + std::to_string(known.undos) + " times");
  if (what.seen && *what.seen != -1 && *what.seen != known.value && !known.by_person) {
    wrong("payload", *of, "the compensation of " + what.step + " was sent an answer that nobody gave");
  }
}

}  // namespace atone::simulation
