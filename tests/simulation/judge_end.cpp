// What must hold when nothing is left to happen.
#include <algorithm>

#include "judge.hpp"
#include "judge_facts.hpp"

namespace atone::simulation {

void judge::finish(shared_store const& store) {
  for (auto* const one : in_order_) finish_one(*one, store);
  for (auto const& [name_of, ids] : answered_) {
    auto const holder = store.holder(name_of.first, name_of.second);
    if (!holder || !ids.contains(*holder)) wrong("acknowledged", name_of.first + " " + name_of.second + " was answered, and is lost");
  }
  for (auto const& [name_of, with] : expected_) {
    if (!answered_.contains(name_of)) wrong("liveness", name_of.first + " " + name_of.second + " was never answered");
  }
}

void judge::finish_one(saga_case& of, shared_store const& store) {
  ++checks_;
  if (!of.ended) return wrong("liveness", of, "it did not come to an end; cause: " + of.cause);
  check_log(of, store.find(of.id));
  for (auto const& [path, plan] : of.of->steps) check_effects(of, plan);
  bool const completed = of.row == saga_status::completed;
  if (completed && of.cancels > 0) wrong("cancel", of, "it completed though its cancel was accepted");
  if (!completed && of.cause.empty()) wrong("cause", of, "it was compensated without a cause");
}

void judge::check_log(saga_case& of, stored_saga const* stored) {
  if (stored == nullptr || stored->row.status != of.row) return wrong("acknowledged", of, "the store does not have it so");
  for (auto const& [trace, entry] : stored->compensations) {
    if (entry.status == compensation_status::pending) wrong("log", of, "the compensation log has " + entry.step.text() + " pending");
    bool const open = entry.status != compensation_status::success && !facts(of, entry.step.text()).by_person;
    if (open) wrong("log", of, "the compensation log does not have " + entry.step.text() + " as done");
  }
}

void judge::check_effects(saga_case& of, step_plan const& plan) {
  auto const& known = facts(of, plan.path);
  if (plan.kind == promise::read_only || known.by_person) return;
  auto const set =
      std::all_of(plan.flags.begin(), plan.flags.end(), [&](int flag) { return of.with.flags.at(static_cast<std::size_t>(flag)); });
  auto const counts = std::to_string(known.actions) + " done, " + std::to_string(known.undos) + " undone";
  if (of.row == saga_status::compensated) {
    if (known.actions != known.undos) wrong("effects", of, plan.path + " has a net effect in a compensated saga: " + counts);
    return;
  }
  if (known.undos > 0) wrong("effects", of, plan.path + " was compensated in a completed saga: " + counts);
  auto const least = set && plan.instead == stand_in::none ? 1U : 0U;
  auto const most = set ? 1U : 0U;
  if (known.actions < least || known.actions > most) wrong("effects", of, plan.path + " of a completed saga: " + counts);
}

}  // namespace atone::simulation
