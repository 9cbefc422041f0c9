// Taking over: replay, and everything that was under way goes out again under the same keys.
#include <algorithm>

#include "instance.hpp"
#include "planted.hpp"

namespace atone::runtime {
void engine::recover(loaded_sagas&& all) {
  for (auto& one : all.open) recover(std::move(one));
  adopt(all.resting);
}

void engine::recover(open_saga&& of) {
  auto const id = of.row.id;
  auto definition = find_definition(of.row.definition.name, of.row.definition.version);
  std::string broken;
  if (definition == nullptr) {
    broken = "its definition is not in the store";
    auto placeholder = std::make_shared<atone::definition>();
    placeholder->ref = of.row.definition;
    definition = std::move(placeholder);
  } else if (definition->ref.hash != of.row.definition.hash) {
    broken = "its definition's content differs from the one it was started with";
  }
  auto made = std::make_unique<instance>(definition, id, of.row.key);
  made->row = of.row;
  made->wake_at = of.row.wake_at;
  made->crashes = made->crashes_found = of.row.crashes;
  made->log = std::move(of.compensations);
  if (!of.events.empty()) made->ahead = std::max(duration{0}, of.events.back().at - ports_.clock.now());
  made->broken = std::move(broken);
  auto& placed = *open_.insert_or_assign(id, std::move(made)).first->second;
  placed.life = ++lives_;
  if (placed.broken.empty() && !replay(placed, of)) ATONE_ASSERT(!placed.broken.empty());
  has_lock_still(placed, of.events);
}

bool engine::replay(instance& of, open_saga const& from) {
  for (auto const& one : from.events) {
    if (planted(planted_bug::replay_skips_an_event) && one.kind == event_kind::attempt_failed) continue;
    if (one.seq.value() != of.machine.last().value() + 1 || (one.seq.value() == 1) != (one.kind == event_kind::started)) {
      of.broken = "its history has a gap before event " + std::to_string(one.seq.value());
      return false;
    }
    auto const applied = of.machine.apply(one);
    if (!applied) {
      of.broken = "event " + std::to_string(one.seq.value()) + " (" + std::string{name(one.kind)} +
                  ") can't be replayed: " + applied.error().message;
      return false;
    }
  }
  if (from.events.empty()) of.broken = "it has no history";
  return of.broken.empty();
}

void engine::go(epoch as) {
  ATONE_ASSERT(!driving_);
  if (lost_) return ports_.probe.stopped_driving(*lost_);  // fenced since it was opened
  epoch_ = as;
  driving_ = true;
  std::vector<saga_id> ids;
  ids.reserve(open_.size());
  for (auto const& [id, of] : open_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());  // oldest first, and the same order in every run
  for (auto const id : ids) resume(*find(id));
  schedule_flush();
  set_alarm();
}

void engine::tell_broken(instance& of) {
  if (of.row.status == saga_status::parked) return;  // said before
  alert_command told;
  told.kind = "parked";
  told.level = alert_level::page;
  told.text = "replay failed: " + of.broken;
  of.wake_at.reset();
  gather_command(of, std::move(told), ports_.clock.now());
  gather_row(of);
  gathering_->notify.push_back(of.row.id);
}

void engine::resume(instance& of) {
  if (!of.broken.empty()) return tell_broken(of);
  auto const commands = of.machine.outstanding();
  bool const local = std::any_of(commands.begin(), commands.end(), [](command const& one) {
    auto const* call = std::get_if<call_command>(&one);
    return call != nullptr && std::holds_alternative<local_request_spec>(call->request);
  });
  // Only a handler inside this process can have brought it down. Which one is not known the first time: each suspect is marked before it
  // is handed out again (next_suspects), so that the next crash tells.
  of.suspect = local && !of.untouched;
  if (of.suspect && of.crashes + 1 >= settings_.crashes_max) {
    return park(of, "a local handler was at work on it at " + std::to_string(of.crashes + 1) + " crashes in a row");
  }
  if (!of.row.wake_at) of.wake_at = wake_of(of);  // written by a version that did not say it
  gather_row(of);
  rest_soon(of);
  if (is_final(of.machine.status())) {  // its last event was durable, its row was not
    gathering_->notify.push_back(of.row.id);
    return;
  }
  for (auto one : commands) {
    if (planted(planted_bug::forget_calls_at_take_over) && std::holds_alternative<call_command>(one)) continue;
    if (planted(planted_bug::forget_timers_at_take_over) && std::holds_alternative<arm_timer_command>(one)) continue;
    take_back_the_future(of, one);
    grant_an_attempt(one, commands);
    auto* const call = std::get_if<call_command>(&one);
    if (call != nullptr && of.untouched) call->again = false;
    if (std::holds_alternative<acquire_lock_command>(one)) {
      want_lock(of);  // all of them stand in line before the first is granted
    } else if (call != nullptr && call->op == operation::compensate) {
      resume_call(of, *call);
    } else {
      gathering_->after.emplace_back(of.row.id, one);
    }
  }
}

// Its last event is of a clock that was ahead and has been set right since: what waits from then on would wait for as much longer. The
// events are replayed as they stand, since the machine decided by their times. The deadline counts from the start, whose time is data.
void engine::take_back_the_future(instance const& of, command& what) {
  auto* const timer = std::get_if<arm_timer_command>(&what);
  if (timer != nullptr && timer->timer != timer_kind::deadline) timer->due -= of.ahead;
}

// What is sent again gets the time of one attempt before its step's timeout acts, however long nobody was there: else the timeout's
// compensation would race with it.
void engine::grant_an_attempt(command& what, std::vector<command> const& all) const {
  auto* const timer = std::get_if<arm_timer_command>(&what);
  if (timer == nullptr || timer->timer != timer_kind::step_timeout) return;
  for (auto const& one : all) {
    auto const* const call = std::get_if<call_command>(&one);
    if (call == nullptr || call->step != timer->step || call->op != timer->op) continue;
    timer->due = std::max(timer->due, ports_.clock.now() + call->attempt_timeout);
  }
}

// The compensation log is looked up before a compensation goes out again: a success is never sent a second time.
void engine::resume_call(instance& of, call_command const& call) {
  auto const trace = trace_id::of(of.row.id, call.step, call.op);
  auto const logged = std::find_if(of.log.begin(), of.log.end(), [&](compensation_entry const& one) { return one.trace == trace; });
  bool const succeeded = logged != of.log.end() && logged->status == compensation_status::success;
  if (succeeded) {
    event done;
    done.kind = event_kind::step_succeeded;
    done.cause = of.machine.last();
    done.step = call.step;
    done.op = call.op;
    done.n = call.n;
    done.text = "the compensation log says that it succeeded";
    auto const taken = deliver(of, done);
    ATONE_ASSERT(taken.has_value());
    return;
  }
  log_compensation_command pending;
  pending.step = call.step;
  pending.op = call.op;
  pending.attempts = call.n.value();
  if (logged != of.log.end()) pending.last_error = logged->last_error;
  gather_command(of, std::move(pending), ports_.clock.now());
  gathering_->after.emplace_back(of.row.id, call);
}

void engine::park(instance& of, std::string why) {
  event what;
  what.kind = event_kind::parked;
  what.cause = of.machine.last();
  what.text = why;
  auto const taken = deliver(of, what);
  if (!taken) return;  // parked already
  alert_command told;
  told.kind = "parked";
  told.level = alert_level::page;
  told.text = std::move(why);
  gather_command(of, std::move(told), ports_.clock.now());
}

}  // namespace atone::runtime
