#include "machine_world.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace atone::test {
namespace {

constexpr std::size_t events_max = 5000;

saga_id fixed_id() {
  return *saga_id::parse("01JDZ4M6GQ5V7Y8N2W3X4R5T6K");
}

std::string text_of(call_command const& call) {
  return "call " + call.step.text() + ' ' + std::string{name(call.op)} + ' ' + std::to_string(call.n.value());
}

}  // namespace

machine_world::machine_world(std::string_view yaml, std::string input) : input_(std::move(input)) {
  auto loaded = load_definition(yaml);
  std::string mistakes;
  for (auto const& one : loaded.diagnostics) mistakes += format(one, "test.yaml") + '\n';
  if (!loaded.ok()) throw std::runtime_error{"the test's definition is wrong:\n" + mistakes};
  definition_ = loaded.definition;
  machine_.emplace(definition_, fixed_id(), business_key{"key-1"});
}

void machine_world::start() {
  event begin;
  begin.kind = event_kind::started;
  begin.payload = input_;
  deliver(std::move(begin));
}

void machine_world::run() {
  start();
  go_on();
}

void machine_world::go_on() {
  while (!is_final(status()) && journal_.size() < events_max) {
    if (lookup_) {
      auto const what = *std::exchange(lookup_, std::nullopt);
      event found;
      auto const known = last_outputs_.find(what.step.text());
      found.kind = known == last_outputs_.end() ? event_kind::last_output_missing : event_kind::last_output_found;
      found.step = what.step;
      if (known != last_outputs_.end()) found.payload = known->second;
      deliver(std::move(found));
    } else if (!in_flight_.empty()) {
      auto const call = in_flight_.front();
      in_flight_.pop_front();
      answer_call(call);
    } else if (!next_timer()) {
      return;
    }
  }
  ASSERT_LT(journal_.size(), events_max) << "the saga does not come to an end";
}

std::optional<error> machine_world::inject(event what) {
  what.seq = sequence{machine_->last().value() + 1};
  what.cause = machine_->last();
  what.at = now_;
  what.random = random_ = random_ * 6364136223846793005U + 1442695040888963407U;
  auto commands = machine_->apply(what);
  if (!commands) return commands.error();
  journal_.push_back(what);
  std::erase_if(in_flight_,
                [&](sent_call const& one) { return one.step == what.step.text() && one.op == what.op && one.n == what.n.value(); });
  take(std::move(*commands));
  if (checks_) check();
  if (crash_after_ && *crash_after_ == what.seq.value()) crash();
  if (on_event) on_event(*this, what);
  return std::nullopt;
}

void machine_world::deliver(event what) {
  auto const kind = what.kind;
  auto const refused = inject(std::move(what));
  ASSERT_FALSE(refused.has_value()) << name(kind) << ": " << refused->message;
}

std::optional<error> machine_world::operator_action(event_kind kind, std::string step, std::string note, std::string payload) {
  event what;
  what.kind = kind;
  what.step = step_path{std::move(step)};
  what.text = std::move(note);
  what.actor = "alice";
  what.payload = std::move(payload);
  return inject(std::move(what));
}

void machine_world::take(std::vector<command> commands) {
  for (auto& one : commands) {
    if (auto const* call = std::get_if<call_command>(&one)) {
      sent_call sent;
      sent.step = call->step.text();
      sent.op = call->op;
      sent.n = call->n.value();
      sent.again = call->again;
      if (auto const* request = std::get_if<http_request_spec>(&call->request)) {
        sent.target = request->method + ' ' + request->target;
        sent.body = request->body;
      }
      calls_.push_back(sent);
      in_flight_.push_back(std::move(sent));
    } else if (auto const* abandon = std::get_if<abandon_command>(&one)) {
      if (abandon->only_unsent) continue;  // every call of this world has left
      hanging_.erase({abandon->step.text(), abandon->op});
      std::erase_if(in_flight_, [&](sent_call const& flying) { return flying.step == abandon->step.text() && flying.op == abandon->op; });
    } else if (auto const* arm = std::get_if<arm_timer_command>(&one)) {
      auto const [at, added] = timers_.emplace(timer{arm->timer, arm->step.text(), arm->op}, arm->due);
      EXPECT_TRUE(added) << "armed twice: " << name(arm->timer) << ' ' << arm->step.text();
    } else if (auto const* cancel = std::get_if<cancel_timer_command>(&one)) {
      EXPECT_EQ(timers_.erase(timer{cancel->timer, cancel->step.text(), cancel->op}), 1U) << "not armed: " << name(cancel->timer);
    } else if (auto const* look = std::get_if<last_output_command>(&one)) {
      lookup_ = *look;
    } else if (auto const* logged = std::get_if<log_compensation_command>(&one)) {
      auto& entry = log_[logged->step.text()];
      EXPECT_NE(entry.status, compensation_status::success) << "a success is written over";
      entry = *logged;
    } else if (auto const* output = std::get_if<record_output_command>(&one)) {
      recorded_.push_back(*output);
    } else if (auto const* alert = std::get_if<alert_command>(&one)) {
      alerts_.push_back(*alert);
    }
  }
}

reply machine_world::next_reply(std::string const& step, operation op) {
  auto const found = scripts_.find({step, op});
  if (found == scripts_.end()) return reply::ok;
  auto const next = found->second.front();
  if (found->second.size() > 1) found->second.pop_front();
  return next;
}

// The participant's barrier: once a key, and an action after its compensation is refused.
bool machine_world::participant_does(std::string const& step, operation op) {
  if (op == operation::compensate) {
    tombstones_.insert(step);
    if (applied(step, operation::act) == 0) return true;  // empty: nothing to undo
  } else if (op == operation::act && tombstones_.contains(step)) {
    return false;
  }
  if (applied_[{step, op}] == 0) applied_[{step, op}] = 1;
  return true;
}

void machine_world::answer_call(sent_call const& call) {
  if (!crash_when_sent_.empty() && call.step == crash_when_sent_ && call.op == operation::act) {
    crash_when_sent_.clear();
    next_reply(call.step, call.op);
    participant_does(call.step, call.op);
    return crash();
  }
  event what;
  what.step = step_path{call.step};
  what.op = call.op;
  what.n = attempt{call.n};
  switch (next_reply(call.step, call.op)) {
    case reply::ok:
      if (participant_does(call.step, call.op)) {
        what.kind = event_kind::step_succeeded;
        auto const known = answers_.find(call.op == operation::act ? call.step : call.step + ' ' + std::string{name(call.op)});
        what.payload = known != answers_.end() ? known->second : "{}";
        break;
      }
      [[fallthrough]];
    case reply::reject:
      what.kind = event_kind::step_refused;
      what.status = 409;
      what.text = "limit reached – größer";
      break;
    case reply::err:
      what.kind = event_kind::attempt_failed;
      what.sureness = certainty::unknown;
      what.text = "503";
      break;
    case reply::not_done:
      what.kind = event_kind::attempt_failed;
      what.sureness = certainty::not_done;
      what.text = "429";
      break;
    case reply::drop:
      participant_does(call.step, call.op);
      what.kind = event_kind::attempt_failed;
      what.sureness = certainty::unknown;
      what.text = "reply lost";
      break;
    case reply::hang: hanging_.insert({call.step, call.op}); return;
  }
  if (call.again && what.kind != event_kind::step_succeeded) what.sureness = certainty::unknown;
  deliver(std::move(what));
}

bool machine_world::next_timer() {
  if (timers_.empty()) return false;
  auto const first =
      std::min_element(timers_.begin(), timers_.end(), [](auto const& left, auto const& right) { return left.second < right.second; });
  now_ = std::max(now_, first->second);
  event what;
  what.kind = event_kind::timer_fired;
  what.timer = first->first.kind;
  what.step = step_path{first->first.step};
  what.op = first->first.op;
  timers_.erase(first);
  deliver(std::move(what));
  return true;
}

// What was in memory is gone; the participants and the journal are not.
void machine_world::crash() {
  crash_after_.reset();
  crashed_ = true;
  machine_.emplace(definition_, fixed_id(), business_key{"key-1"});
  for (auto const& one : journal_) {
    auto const replayed = machine_->apply(one);
    ASSERT_TRUE(replayed.has_value()) << replayed.error().message;
  }
  in_flight_.clear();
  hanging_.clear();
  timers_.clear();
  lookup_.reset();
  take(machine_->outstanding());
}

std::set<std::string> machine_world::under_way() const {
  std::set<std::string> names;
  for (auto const& call : in_flight_) names.insert("call " + call.step + ' ' + std::string{name(call.op)} + ' ' + std::to_string(call.n));
  for (auto const& [what, due] : timers_)
    names.insert("timer " + std::string{name(what.kind)} + ' ' + what.step + ' ' + std::string{name(what.op)});
  if (lookup_) names.insert("lookup " + lookup_->step.text());
  return names;
}

void machine_world::check() const {
  saga_machine again{definition_, fixed_id(), business_key{"key-1"}};
  for (auto const& one : journal_) {
    auto const replayed = again.apply(one);
    ASSERT_TRUE(replayed.has_value()) << replayed.error().message;
  }
  EXPECT_EQ(again.status(), machine_->status());
  EXPECT_EQ(again.cause(), machine_->cause());
  EXPECT_EQ(again.output(), machine_->output());
  auto const left = again.steps();
  auto const right = machine_->steps();
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t at = 0; at < left.size(); ++at) {
    EXPECT_EQ(left[at].path, right[at].path);
    EXPECT_EQ(left[at].phase, right[at].phase);
    EXPECT_EQ(left[at].undo, right[at].undo);
    EXPECT_EQ(left[at].attempts, right[at].attempts);
    EXPECT_EQ(left[at].undo_attempts, right[at].undo_attempts);
  }
  std::set<std::string> expected;
  for (auto const& one : machine_->outstanding()) {
    if (auto const* call = std::get_if<call_command>(&one)) expected.insert(text_of(*call));
    if (auto const* arm = std::get_if<arm_timer_command>(&one))
      expected.insert("timer " + std::string{name(arm->timer)} + ' ' + arm->step.text() + ' ' + std::string{name(arm->op)});
    if (auto const* look = std::get_if<last_output_command>(&one)) expected.insert("lookup " + look->step.text());
  }
  auto found = under_way();
  for (auto const& [step, op] : hanging_) {
    for (auto const& call : calls_) {
      if (call.step == step && call.op == op) found.insert("call " + step + ' ' + std::string{name(op)} + ' ' + std::to_string(call.n));
    }
  }
  for (auto const& one : expected) EXPECT_TRUE(found.contains(one)) << "outstanding, but not under way: " << one;
  if (status() == saga_status::parked) return;  // the runtime's own parking leaves timers to be dropped
  for (auto const& one : under_way()) EXPECT_TRUE(expected.contains(one)) << "under way, but not outstanding: " << one;
}

std::size_t machine_world::called(std::string const& step, operation op) const {
  return static_cast<std::size_t>(
      std::count_if(calls_.begin(), calls_.end(), [&](sent_call const& one) { return one.step == step && one.op == op; }));
}

std::vector<std::string> machine_world::compensation_order() const {
  std::vector<std::string> order;
  for (auto const& one : calls_) {
    if (one.op == operation::compensate && std::find(order.begin(), order.end(), one.step) == order.end()) order.push_back(one.step);
  }
  return order;
}

std::vector<std::string> machine_world::undone_order() const {
  auto order = compensation_order();
  std::erase_if(order, [&](std::string const& step) { return applied(step, operation::act) == 0; });
  return order;
}

std::size_t machine_world::applied(std::string const& step, operation op) const {
  auto const found = applied_.find({step, op});
  return found == applied_.end() ? 0 : found->second;
}

int machine_world::effect(std::string const& step) const {
  return static_cast<int>(applied(step, operation::act)) - static_cast<int>(applied(step, operation::compensate));
}

void run_with_every_crash(std::string_view yaml, std::string const& input, std::function<void(machine_world&)> const& setup,
                          std::function<void(machine_world&)> const& expect) {
  machine_world undisturbed{yaml, input};
  setup(undisturbed);
  undisturbed.run();
  expect(undisturbed);
  auto const events = undisturbed.journal().size();
  for (std::uint32_t at = 1; at <= events; ++at) {
    SCOPED_TRACE("crash after event " + std::to_string(at) + " of " + std::to_string(events));
    machine_world crashed{yaml, input};
    setup(crashed);
    crashed.crash_after(at);
    crashed.run();
    EXPECT_EQ(crashed.status(), undisturbed.status());
    expect(crashed);
    if (crashed.status() == saga_status::compensated) {
      for (auto const& view : crashed.machine().steps()) EXPECT_EQ(crashed.effect(view.path.text()), 0) << view.path.text();
    }
  }
}

}  // namespace atone::test
