#include "judge.hpp"

#include <utility>

#include <atone/assert.hpp>

namespace atone::audit {
namespace {

// How often an action's effect may stand.
struct expectation {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::string why;

  expectation() = default;
  expectation(std::uint64_t from, std::uint64_t to, std::string reason) : least(from), most(to), why(std::move(reason)) {}
};

class judge {
 public:
  explicit judge(judgement const& of) : of_(of), facts_(collect_facts(of.saga.events)), leaves_(collect_leaves(*of.saga.definition)) {}

  std::vector<finding> run() {
    find_unknown_steps();
    for (auto const& [path, leaf] : leaves_) judge_step(path, leaf);
    return std::move(found_);
  }

 private:
  bool completed() const { return of_.saga.row.status == saga_status::completed; }

  step_facts const& facts_of(step_path const& path) const {
    auto const found = facts_.find(path);
    return found == facts_.end() ? nothing_ : found->second;
  }

  void report(finding_kind kind, std::string const& service, step_path const& step, operation op, std::string text) {
    finding made;
    made.kind = kind;
    made.service = service;
    made.saga = of_.saga.row.id;
    made.step = step;
    made.op = op;
    made.text = std::move(text);
    found_.push_back(std::move(made));
  }

  bool knows(step_path const& step, operation op, std::string const& service) const {
    auto const found = leaves_.find(step);
    if (found == leaves_.end()) return false;
    auto const& leaf = found->second;
    if (op == operation::act) return leaf.act_service == service;
    if (op == operation::compensate) return leaf.has_undo && leaf.undo_service == service;
    return op == operation::fallback && leaf.has_fallback_call && leaf.fallback_service == service;
  }

  void find_unknown_steps() {
    for (auto const& [key, applied] : of_.effects.all()) {
      auto const& [step, op, service] = key;
      if (applied == 0 || knows(step, op, service)) continue;
      report(finding_kind::step_unknown, service, step, op, "took effect, but the saga's definition has no such operation at this service");
    }
  }

  // Whether a service can be asked; if not, and the step may have done something there, the saga can't be checked.
  bool readable(std::string const& service, step_path const& path, operation op) {
    if (service.empty()) return false;  // in the journal's own transaction: nothing to ask
    if (of_.sources.contains(service)) return true;
    report(finding_kind::source_missing, service, path, op, "took part, but its effects were not read");
    return false;
  }

  void judge_step(step_path const& path, leaf const& leaf) {
    auto const& facts = facts_of(path);
    if (facts.act_successes > 1) {
      report(finding_kind::journal_contradicts, leaf.act_service, path, operation::act, "the journal has more than one success");
    }
    if (facts.undo_successes > 1) {
      report(finding_kind::journal_contradicts, leaf.undo_service, path, operation::compensate, "the journal has more than one success");
    }
    if (leaf.promise == atomicity::read_only) return judge_untouched(path, leaf);
    if (!may_have_acted(facts) && !of_.sources.contains(leaf.act_service)) return;
    if (completed()) return judge_completed(path, leaf, facts);
    judge_compensated(path, leaf, facts);
  }

  static bool may_have_acted(step_facts const& facts) {
    return facts.act_successes > 0 || facts.act_late_success || facts.act_unknown || facts.operator_touched;
  }

  void judge_untouched(step_path const& path, leaf const& leaf) {
    auto const applied = of_.effects.applied(path, operation::act, leaf.act_service);
    if (applied > 0)
      report(finding_kind::effect_unexpected, leaf.act_service, path, operation::act, "took effect in a step that only reads");
  }

  static expectation expected_when_completed(step_facts const& facts) {
    if (facts.act_successes > 0) return expectation{1, 1, "the journal has its success"};
    if (facts.act_late_success) return expectation{1, 1, "its success came late, but came"};
    if (facts.act_unknown) return expectation{0, 1, "its outcome stayed unknown"};
    if (facts.operator_touched) return expectation{0, 1, "a person supplied its output"};
    return expectation{0, 0, "it was skipped, not reached or refused"};
  }

  void judge_completed(step_path const& path, leaf const& leaf, step_facts const& facts) {
    if (readable(leaf.act_service, path, operation::act)) {
      auto const wanted = expected_when_completed(facts);
      compare(path, leaf.act_service, of_.effects.applied(path, operation::act, leaf.act_service), wanted);
    }
    if (!leaf.has_undo || !of_.sources.contains(leaf.undo_service)) return;
    if (of_.effects.applied(path, operation::compensate, leaf.undo_service) == 0) return;
    report(finding_kind::undone_when_completed, leaf.undo_service, path, operation::compensate, "was undone although the saga completed");
  }

  void compare(step_path const& path, std::string const& service, std::uint64_t applied, expectation const& wanted) {
    if (applied < wanted.least) {
      report(finding_kind::effect_missing, service, path, operation::act, "has no effect; expected one: " + wanted.why);
    } else if (applied > wanted.most && wanted.most == 0) {
      report(finding_kind::effect_unexpected, service, path, operation::act, "took effect; expected none: " + wanted.why);
    }  // more than one where one is right is a repeat: found apart
  }

  void judge_compensated(step_path const& path, leaf const& leaf, step_facts const& facts) {
    if (!readable(leaf.act_service, path, operation::act)) return;
    auto const done = of_.effects.applied(path, operation::act, leaf.act_service);
    if (done == 0 && facts.act_successes > 0) {
      report(finding_kind::effect_missing, leaf.act_service, path, operation::act,
             "has no effect; expected one: the journal has its success");
    }
    if (!leaf.has_undo) {
      if (done > 0) report_left(path, leaf, facts);
      return;
    }
    if (!readable(leaf.undo_service, path, operation::compensate)) return;
    auto const undone = of_.effects.applied(path, operation::compensate, leaf.undo_service);
    if (done > 0 && undone == 0) report_left(path, leaf, facts);
    if (done == 0 && undone > 0) {
      report(finding_kind::undone_without_doing, leaf.undo_service, path, operation::compensate,
             "was undone, but its action never took effect");
    }
  }

  void report_left(step_path const& path, leaf const& leaf, step_facts const& facts) {
    if (facts.operator_touched) {
      report(finding_kind::operator_decided, leaf.act_service, path, operation::act,
             "its effect stands; a person decided so: " + facts.operator_note);
      return;
    }
    report(finding_kind::effect_left, leaf.act_service, path, operation::act, "its effect stands although the saga was compensated");
  }

  judgement of_;
  facts_by_step facts_;
  leaves leaves_;
  step_facts const nothing_;
  std::vector<finding> found_;
};

finding about(saga_facts const& saga, finding_kind kind, std::string text) {
  finding made;
  made.kind = kind;
  made.saga = saga.row.id;
  made.text = std::move(text);
  return made;
}

}  // namespace

std::vector<finding> judge_ended(judgement const& of) {
  ATONE_ASSERT(is_final(of.saga.row.status));
  if (!of.saga.definition) {
    return {about(
        of.saga, finding_kind::definition_missing,
        "its definition " + of.saga.row.definition.name + '@' + std::to_string(of.saga.row.definition.version.value()) + " can't be had")};
  }
  if (auto gap = history_gap(of.saga)) return {about(of.saga, finding_kind::history_incomplete, std::move(*gap))};
  auto found = judge{of}.run();
  if (auto gap = cause_gap(of.saga)) found.push_back(about(of.saga, finding_kind::cause_missing, std::move(*gap)));
  if (auto gap = lock_gap(of.saga)) found.push_back(about(of.saga, finding_kind::lock_broken, std::move(*gap)));
  return found;
}

}  // namespace atone::audit
