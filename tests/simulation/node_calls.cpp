// A node's requests: in its sender's queue, on the wire, answered, lost.
#include <algorithm>
#include <utility>

#include "node.hpp"

namespace atone::simulation {
namespace {

constexpr duration network_delay = std::chrono::milliseconds{20};
constexpr duration held_max = std::chrono::seconds{60};
constexpr duration reorder_max = std::chrono::seconds{20};
constexpr duration withheld_look = std::chrono::milliseconds{100};
constexpr duration work_max = std::chrono::seconds{5};       // of a participant that has answered 202
constexpr duration callback_max = std::chrono::seconds{60};  // then the outcome is unknown
constexpr int reports_max = 30;

runtime::call_answer failed(certainty sureness, std::string text) {
  runtime::call_answer made;
  made.sureness = sureness;
  made.text = std::move(text);
  return made;
}

runtime::call_answer told(participants::reply const& reply) {
  runtime::call_answer made;
  made.kind = reply.refused ? runtime::call_answer::kind_of::refused : runtime::call_answer::kind_of::done;
  made.status = reply.refused ? 409 : 200;
  made.payload = reply.body;
  made.text = reply.refused ? "no" : "";
  return made;
}

}  // namespace

std::vector<node::call_out>::iterator node::find_out(std::uint64_t token) {
  return std::find_if(outs_.begin(), outs_.end(), [&](call_out const& one) { return one.token == token; });
}

std::vector<node::call_out>::iterator node::find_out(saga_id saga, step_path const& step, operation op) {
  return std::find_if(outs_.begin(), outs_.end(),
                      [&](call_out const& one) { return one.what.saga == saga && one.what.op == op && one.what.step == step; });
}

void node::send(runtime::outgoing_call what, runtime::caller::completion done) {
  if (doomed_) return;
  if (world_.tracing()) {
    world_.note("send", what.saga.text().substr(20) + " " + what.step.text() + " " + std::string{name(what.op)} + " " +
                            std::to_string(what.n.value()) + " by " + std::to_string(number_) + " epoch " +
                            std::to_string(what.epoch.value()));
  }
  world_.mark(what.n.value() + static_cast<std::uint64_t>(what.op) * 31);
  if (stopping_) world_.judge().sent_while_stopping(what);
  world_.judge().sent(writer(), what);
  call_out made;
  made.token = ++tokens_;
  made.what = std::move(what);
  made.done = std::move(done);
  made.held = true;
  auto const token = made.token;
  outs_.push_back(std::move(made));
  if (!world_.happens(fault::hold)) return leave(token);
  after(world_.delays().up_to(held_max), [this, token] { leave(token); });
}

// A call that waited leaves only under a lease that stands then.
void node::leave(std::uint64_t token) {
  auto const at = find_out(token);
  if (at == outs_.end()) return;
  if (!holds()) return after(withheld_look, [this, token] { leave(token); });
  if (world_.happens(fault::crash_before_send)) return doom();
  at->held = false;
  world_.judge().left(writer(), at->what);
  auto const what = at->what;
  std::holds_alternative<local_request_spec>(what.request) ? call_local(what, token) : put_on_wire(what, token);
  if (world_.happens(fault::crash_after_send)) doom();
}

runtime::given_up node::abandon(saga_id saga, step_path const& step, operation op) {
  auto const at = find_out(saga, step, op);
  if (at == outs_.end()) return runtime::given_up::out;
  bool const held = at->held;
  if (!held && std::holds_alternative<local_request_spec>(at->what.request)) return runtime::given_up::out;  // a handler is not stopped
  outs_.erase(at);
  return held ? runtime::given_up::never_left : runtime::given_up::dropped;
}

runtime::given_up node::take_back(saga_id saga, step_path const& step, operation op) {
  auto const at = find_out(saga, step, op);
  if (at == outs_.end() || !at->held) return runtime::given_up::out;
  outs_.erase(at);
  return runtime::given_up::never_left;
}

void node::answer(std::uint64_t token, runtime::call_answer with) {
  auto const at = find_out(token);
  if (at == outs_.end()) return;
  auto const done = std::move(at->done);
  outs_.erase(at);
  done(std::move(with));
}

void node::answer_after(duration wait, std::uint64_t token, runtime::call_answer with) {
  after(wait, [this, token, with = std::move(with)] { answer(token, with); });
}

void node::put_on_wire(runtime::outgoing_call const& what, std::uint64_t token) {
  auto& delays = world_.delays();
  if (world_.happens(fault::busy)) {
    auto no = failed(certainty::not_done, "429");
    no.retry_after = delays.up_to(std::chrono::seconds{1});
    return answer_after(delays.up_to(network_delay), token, std::move(no));
  }
  if (world_.happens(fault::error)) return answer_after(delays.up_to(network_delay), token, failed(certainty::unknown, "503"));
  if (world_.settings().extra.callbacks && what.op != operation::fallback && world_.happens(fault::callback)) {
    // 202: it stays out, and costs no attempt, until something is reported or nothing is for too long.
    world_.time().after(delays.up_to(work_max), owner{}, [this, what] { report_later(what, world_.services().handle(what)); });
    return answer_after(callback_max, token, failed(certainty::unknown, "202, and nothing was reported"));
  }
  auto const arrive = [this, what] { world_.services().handle(what); };
  if (world_.happens(fault::duplicate)) world_.time().after(delays.up_to(network_delay * 2), owner{}, arrive);
  if (world_.happens(fault::reorder)) world_.time().after(delays.up_to(reorder_max), owner{}, arrive);
  auto there = delays.up_to(network_delay);
  if (world_.happens(fault::slow)) there += delays.up_to(what.attempt_timeout * 2);
  auto const back = delays.up_to(network_delay);
  bool const lost = world_.happens(fault::lose_answer) || world_.happens(fault::late) || there + back >= what.attempt_timeout;
  // It arrives whatever becomes of the sender.
  world_.time().after(there, owner{}, [this, what, token, back, lost, to = self()] {
    auto const reply = world_.services().handle(what);
    if (lost) return;
    world_.time().after(back, to, [this, token, reply] { answer(token, told(reply)); });
  });
  if (lost) answer_after(what.attempt_timeout, token, failed(certainty::unknown, "timeout"));
}

// The participant reports to whoever is there, whatever has become of the sender.
void node::report_later(runtime::outgoing_call const& what, participants::reply const& reply) {
  if (world_.happens(fault::callback_lost)) return;
  world_.report(what, told(reply), reports_max);
  if (!world_.happens(fault::callback_twice)) return;
  world_.time().after(world_.delays().up_to(reorder_max), owner{}, [this, what, reply] { world_.report(what, told(reply), 1); });
}

// A handler inside the process: it dies with it, and nothing bounds its time.
void node::call_local(runtime::outgoing_call const& what, std::uint64_t token) {
  after(world_.delays().up_to(network_delay), [this, what, token] {
    auto const reply = world_.services().handle(what);
    auto const* const of = world_.judge().definition_of(what.saga);
    bool const may_hang =
        what.op == operation::act && of != nullptr && of->deadline && of->steps.at(what.step.text()).kind == promise::compensable;
    if (may_hang && world_.happens(fault::hang)) return;
    answer_after(world_.delays().up_to(network_delay), token, told(reply));
  });
}

}  // namespace atone::simulation
