// A small saga to audit: two compensable steps at two services, one that only reads, one after the pivot, one in a branch.
// A script tells what the journal and the participants say; a test changes one thing and looks what the audit makes of it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <atone/audit.hpp>

namespace atone::audit::test {

inline saga_id id_of(std::uint8_t number) {
  saga_id::bytes bytes{};
  bytes[0] = 1;
  bytes[15] = number;
  return saga_id{bytes};
}

inline call_target call_to(std::string service) {
  call_target made;
  made.service = std::move(service);
  return made;
}

inline step action(std::string id, atomicity promise, std::string service, std::string undo_service = {}) {
  action_verb verb;
  verb.what = call_to(std::move(service));
  if (!undo_service.empty()) {
    compensation undo;
    undo.what = call_to(std::move(undo_service));
    verb.compensate = std::move(undo);
  }
  step made;
  made.id = std::move(id);
  made.promise = promise;
  made.verb = std::move(verb);
  return made;
}

inline step parallel(std::string id, std::string branch_name, std::vector<step> steps) {
  branch only;
  only.name = std::move(branch_name);
  only.steps = std::move(steps);
  parallel_verb verb;
  verb.branches.push_back(std::move(only));
  step made;
  made.id = std::move(id);
  made.verb = std::move(verb);
  return made;
}

inline definition_ptr order_definition() {
  auto made = std::make_shared<definition>();
  made->ref.name = "order-placed";
  made->ref.version = definition_version{1};
  made->steps.push_back(action("order", atomicity::compensable, "orders", "orders"));
  made->steps.push_back(action("look", atomicity::read_only, "profiles"));
  made->steps.push_back(parallel("fan", "profile", {action("tag", atomicity::compensable, "profiles", "profiles")}));
  made->steps.push_back(action("ship", atomicity::retriable, "orders"));
  return made;
}

class script {
 public:
  explicit script(saga_status ended, std::uint8_t number = 1) {
    facts_.row.id = id_of(number);
    facts_.row.status = ended;
    facts_.definition = order_definition();
    facts_.row.definition = facts_.definition->ref;
    journal(event_kind::started, "", operation::none);
  }

  script& journal(event_kind kind, std::string step, operation op) {
    event next;
    next.kind = kind;
    next.step = step_path{std::move(step)};
    next.op = op;
    next.status = kind == event_kind::step_succeeded ? 200 : 0;
    return journal(std::move(next));
  }
  script& journal(event next) {
    next.seq = sequence{static_cast<std::uint32_t>(facts_.events.size() + 1)};
    next.cause = sequence{static_cast<std::uint32_t>(facts_.events.size())};
    facts_.row.last = next.seq;
    facts_.events.push_back(std::move(next));
    return *this;
  }
  script& succeeded(std::string step, operation op = operation::act) { return journal(event_kind::step_succeeded, std::move(step), op); }
  script& unknown(std::string step) {
    event next;
    next.kind = event_kind::attempt_failed;
    next.step = step_path{std::move(step)};
    next.op = operation::act;
    next.sureness = certainty::unknown;
    return journal(std::move(next));
  }
  script& applied(std::string service, std::string step, operation op, std::uint64_t times = 1) {
    effect made;
    made.service = std::move(service);
    made.saga = facts_.row.id;
    made.step = step_path{std::move(step)};
    made.op = op;
    made.applied = times;
    effects_.push_back(std::move(made));
    return *this;
  }

  saga_facts& facts() { return facts_; }
  std::vector<effect> const& effects() const { return effects_; }

  report judge(std::vector<std::string> sources = {"orders", "profiles"}) const {
    auditor by{std::move(sources)};
    for (auto const& each : effects_) ATONE_ASSERT(by.add(each).has_value());
    by.judge(facts_);
    return by.finish();
  }

 private:
  saga_facts facts_;
  std::vector<effect> effects_;
};

// Everything went well: order, look, tag, ship.
inline script completed(std::uint8_t number = 1) {
  script made{saga_status::completed, number};
  made.succeeded("order").succeeded("look").succeeded("fan/profile/tag").succeeded("ship");
  made.applied("orders", "order", operation::act)
      .applied("profiles", "fan/profile/tag", operation::act)
      .applied("orders", "ship", operation::act);
  return made;
}

// The tag was refused, the order undone.
inline script compensated(std::uint8_t number = 1) {
  script made{saga_status::compensated, number};
  made.succeeded("order").succeeded("look").journal(event_kind::step_refused, "fan/profile/tag", operation::act);
  made.succeeded("order", operation::compensate);
  made.applied("orders", "order", operation::act).applied("orders", "order", operation::compensate);
  return made;
}

inline finding_kind only_finding(report const& of) {
  ATONE_ASSERT(of.findings.size() == 1);
  return of.findings.front().kind;
}

}  // namespace atone::audit::test
