#include "judge.hpp"

#include <algorithm>

#include "judge_facts.hpp"

namespace atone::simulation {

judge::judge(std::vector<blueprint> const& definitions, bool steady) : steady_(steady) {
  for (auto const& one : definitions) definitions_.emplace(one.name, &one);
}
judge::~judge() = default;

void judge::wrong(std::string_view checker, saga_case const& of, std::string const& what) {
  wrong(checker, of.of->name + " " + of.id.text().substr(20) + " (" + std::string{name(of.row)} + "): " + what);
}

void judge::wrong(std::string_view checker, std::string const& what) {
  violation made;
  made.checker = checker;
  made.text = what;
  found_.push_back(std::move(made));
}

judge::saga_case* judge::find(saga_id id) {
  auto const at = cases_.find(id);
  return at == cases_.end() ? nullptr : at->second.get();
}

judge::step_facts& judge::facts(saga_case& of, std::string const& path) {
  return of.steps[path];
}

void judge::expect(std::string const& saga, std::string const& key, start_facts with) {
  expected_[{saga, key}] = with;
}

// ---- what people were told ----

void judge::start_acknowledged(std::string const& saga, std::string const& key, saga_id id) {
  ++checks_;
  if (find(id) == nullptr) wrong("acknowledged", saga + " " + key + ": a start was answered before it was durable");
  auto& ids = answered_[{saga, key}];
  ids.insert(id);
  if (ids.size() > 1) wrong("one-key", saga + " " + key + ": answered with " + std::to_string(ids.size()) + " sagas");
}

void judge::request_lost(std::string const& saga, std::string const& key) {
  wrong("inbox", saga + " " + key + ": a start that was asked for by SQL was taken off, and there is no saga of it");
}

void judge::sent_while_stopping(runtime::outgoing_call const& call) {
  ++checks_;
  auto const what = std::string{name(call.op)} + " of " + call.step.text();
  if (auto* const of = find(call.saga)) wrong("drain", *of, what + " was begun by a coordinator that had been told to stop");
}

void judge::stopped(writer_number of) {
  ++checks_;
  if (writers_[of].alive) wrong("drain", "writer " + std::to_string(of.value()) + " has stopped, and what it held is still its own");
}

void judge::never_quiet(writer_number of) {
  ++checks_;
  wrong("drain", "writer " + std::to_string(of.value()) + " was told to stop, had nothing to wait for, and did not end");
}

bool judge::has_heard(runtime::outgoing_call const& of, event_kind outcome) {
  auto* const known = find(of.saga);
  if (known == nullptr) return false;
  auto const& heard = facts(*known, of.step.text()).heard;
  auto const at = heard.find({of.op, of.n.value()});
  return at != heard.end() && at->second.contains(outcome);
}

// What the sender itself has journalled of the attempt (202, and nothing was reported) is not the report.
void judge::report_acknowledged(runtime::outgoing_call const& call, runtime::call_answer const& reported) {
  ++checks_;
  auto const outcome = reported.kind == runtime::call_answer::kind_of::done ? event_kind::step_succeeded : event_kind::step_refused;
  if (has_heard(call, outcome) || has_heard(call, event_kind::late_answer)) return;
  wrong("acknowledged", "a report of " + std::string{name(call.op)} + " of " + call.step.text() + " was taken before it was durable");
}

void judge::report_came_late(runtime::outgoing_call const& call) {
  ++checks_;
  auto* const of = find(call.saga);
  if (of != nullptr && (of->ended || has_heard(call, event_kind::late_answer))) return;  // nothing is written after the end
  wrong("acknowledged",
        "a late report of " + std::string{name(call.op)} + " of " + call.step.text() + " was answered before it was durable");
}

void judge::action_acknowledged(operator_request const& what) {
  using action = operator_request::action_kind;
  ++checks_;
  auto* const of = find(what.saga);
  if (of == nullptr) return wrong("acknowledged", "an operator was told of a saga that is not durable");
  auto const told = ++of->acknowledged[what.action];
  auto const others = of->acknowledged[action::retry] + of->acknowledged[action::skip] + of->acknowledged[action::complete];
  bool const durable = what.action == action::cancel   ? of->cancels >= told
                       : what.action == action::pause  ? of->pauses >= told
                       : what.action == action::resume ? of->resumes >= told
                                                       : of->operators >= others;
  if (!durable) wrong("acknowledged", *of, "an operator's " + std::string{name(what.action)} + " was answered before it was durable");
}

void judge::told_ended(saga_view const& as) {
  ++checks_;
  auto* const of = find(as.row.id);
  if (of == nullptr) return wrong("acknowledged", "somebody was told of the end of a saga that is not durable");
  if (is_final(as.row.status) && (!of->ended || of->row != as.row.status)) {
    wrong("acknowledged", *of, "somebody was told '" + std::string{name(as.row.status)} + "' before it was durable");
  }
}

void judge::viewed(saga_view const& as) {
  ++checks_;
  auto* const of = find(as.row.id);
  if (of == nullptr || as.row.last > of->shadow.last()) return wrong("acknowledged", "a view tells what is not durable");
  if (as.row.last != of->shadow.last()) return;  // more has been accepted since
  auto const here = of->shadow.steps();
  bool const same =
      std::equal(here.begin(), here.end(), as.steps.begin(), as.steps.end(), [](step_view const& left, step_view const& right) {
        return left.path == right.path && left.phase == right.phase && left.undo == right.undo && left.attempts == right.attempts &&
               left.undo_attempts == right.undo_attempts && left.fell_back == right.fell_back && left.maybe_sent == right.maybe_sent;
      });
  if (!same) wrong("replay", *of, "memory differs from the journal at event " + std::to_string(as.row.last.value()));
}

// ---- what is asked of the judge ----

std::map<saga_status, std::uint64_t> judge::ends() const {
  std::map<saga_status, std::uint64_t> counts;
  for (auto const* one : in_order_) ++counts[one->row];
  return counts;
}

std::vector<saga_id> judge::at_rest() const {
  std::vector<saga_id> found;
  for (auto const* one : in_order_) {
    if (one->row == saga_status::parked || one->row == saga_status::paused || one->shadow.paused()) found.push_back(one->id);
  }
  return found;
}

blueprint const* judge::definition_of(saga_id id) const {
  auto const at = cases_.find(id);
  return at == cases_.end() ? nullptr : at->second->of;
}

}  // namespace atone::simulation
