// Commands that leave, and answers that come.
#include <algorithm>
#include <utility>

#include "instance.hpp"

namespace atone::runtime {

void engine::perform(saga_id id, command const& what) {
  auto* const of = find(id);
  if (of == nullptr || of->reloading) return;
  if (auto const* call = std::get_if<call_command>(&what)) {
    if (std::holds_alternative<sql_request_spec>(call->request)) return send_sql(*of, *call);
    return send_call(*of, *call);
  }
  if (auto const* abandon = std::get_if<abandon_command>(&what)) return give_up_call(id, abandon->step, abandon->op);
  if (auto const* look = std::get_if<last_output_command>(&what)) return look_up(*of, *look);
  if (is_final(of->machine.status())) return;
  if (auto const* arm = std::get_if<arm_timer_command>(&what)) {
    armed_timer timer;
    timer.saga = id;
    timer.kind = arm->timer;
    timer.step = arm->step;
    timer.op = arm->op;
    timers_.arm(of->timers, arm->due, std::move(timer));
  } else if (auto const* cancel = std::get_if<cancel_timer_command>(&what)) {
    timers_.cancel(of->timers, cancel->timer, cancel->step, cancel->op);
  }
}

void engine::give_up_call(saga_id id, step_path const& step, operation op) {
  if (ports_.calls.abandon(id, step, op)) --figures_.calls_in_flight;
}

void engine::send_call(instance& of, call_command const& call) {
  outgoing_call out;
  out.saga = of.row.id;
  out.step = call.step;
  out.op = call.op;
  out.n = call.n;
  out.epoch = epoch_;
  out.key = trace_id::of(of.row.id, call.step, call.op);
  out.service = call.service;
  out.request = call.request;
  out.attempt_timeout = call.attempt_timeout;
  if (auto const* to = of.machine.bound_to().find_service(call.service)) {
    out.address = to->address;
    out.in_flight_max = to->in_flight_max;
  }
  if (auto const other = settings_.addresses.find(call.service); other != settings_.addresses.end()) out.address = other->second;
  ++figures_.calls;
  ++figures_.calls_in_flight;
  ports_.probe.call_sent(out);
  ports_.calls.send(std::move(out),
                    [this, id = of.row.id, step = call.step, op = call.op, n = call.n, again = call.again](call_answer answer) {
                      --figures_.calls_in_flight;
                      ports_.probe.call_answered(id, step, op, n, answer);
                      (void)answered(id, step, op, n, std::move(answer), again);  // an answer that nobody waits for is recorded inside
                      tell_quiet();
                    });
}

// `again`: the same attempt had been sent before a take-over. Whatever this sending did not do, the earlier one may have done.
result<void> engine::answered(saga_id id, step_path const& step, operation op, attempt n, call_answer answer, bool again) {
  if (!driving_) return error{errc::unavailable, "this coordinator does not drive sagas now"};
  auto* const of = find(id);
  if (of == nullptr || of->reloading) {
    ++figures_.late_answers;
    ports_.probe.answer_late(id, step, op, n);
    return error{errc::not_found, "no saga " + id.text() + " is under way"};
  }
  if (of->sql_in_flight) {
    when_free(*of, [this, id, step, op, n, again, answer = std::move(answer)] { (void)answered(id, step, op, n, answer, again); });
    return {};
  }
  event what;
  what.kind = answer.kind == call_answer::kind_of::done      ? event_kind::step_succeeded
              : answer.kind == call_answer::kind_of::refused ? event_kind::step_refused
                                                             : event_kind::attempt_failed;
  what.cause = of->machine.last();
  what.step = step;
  what.op = op;
  what.n = n;
  if (answer.kind == call_answer::kind_of::failed) what.sureness = answer.sureness;
  if (again && answer.kind != call_answer::kind_of::done) what.sureness = certainty::unknown;
  what.status = answer.status;
  what.retry_after = answer.retry_after;
  what.payload = std::move(answer.payload);
  what.text = std::move(answer.text);
  auto taken = deliver(*of, what);
  if (!taken) record_late(*of, std::move(what));
  return taken;
}

void engine::record_late(instance& of, event what) {
  ++figures_.late_answers;
  ports_.probe.answer_late(of.row.id, what.step, what.op, what.n);
  if (is_final(of.machine.status())) return;  // nothing is written after the end
  what.text = std::string{name(what.kind)} + (what.text.empty() ? "" : ": " + what.text);
  what.kind = event_kind::late_answer;
  auto const recorded = deliver(of, std::move(what));
  ATONE_ASSERT(recorded.has_value());
}

void engine::report(saga_id id, step_path step, operation op, attempt n, call_answer answer, callback<void> then) {
  if (auto* const of = find(id); of != nullptr && of->sql_in_flight) {
    return when_free(*of, [this, id, step, op, n, answer, then] { report(id, step, op, n, answer, then); });
  }
  auto taken = answered(id, step, op, n, std::move(answer), false);
  if (taken) give_up_call(id, step, op);
  if (!taken && (taken.error().code == errc::unavailable || taken.error().code == errc::not_found)) {
    return ports_.turns.defer([then, why = taken.error()] { then(why); });
  }
  // Told only once the answer, or the record that it came late, is durable.
  auto const refusal = taken ? std::nullopt : std::optional{taken.error()};
  tell(id, [then, refusal](error const* failed) {
    if (failed != nullptr) return then(*failed);
    if (refusal) return then(*refusal);
    then(result<void>{});
  });
}

bool engine::waits_for(instance const& of, call_command const& call) const {
  auto const wanted = of.machine.outstanding();
  return std::any_of(wanted.begin(), wanted.end(), [&](command const& one) {
    auto const* const other = std::get_if<call_command>(&one);
    return other != nullptr && other->step == call.step && other->op == call.op && other->n == call.n;
  });
}

// The statement, the event that says it succeeded, and all that follows from it, in one transaction. The event is made on the
// writer's thread from a copy of the machine; nothing else happens to the saga meanwhile, so the machine here comes to the same.
void engine::send_sql(instance& of, call_command const& call) {
  if (has_gathered(of.row.id)) {
    // Its earlier events must be durable first: a history has no gaps.
    return tell(of.row.id, [this, id = of.row.id, call](error const* failed) {
      if (failed == nullptr && driving_) perform(id, call);
    });
  }
  if (!waits_for(of, call)) return;  // given up while it waited for its turn: run now, it would be an effect that nobody undoes
  auto const& spec = std::get<sql_request_spec>(call.request);
  of.sql_in_flight = true;
  sql_statement statement;
  statement.text = spec.text;
  statement.parameters = spec.parameters;
  event what;
  what.kind = event_kind::step_succeeded;
  what.cause = of.machine.last();
  what.step = call.step;
  what.op = call.op;
  what.n = call.n;
  stamp(of, what);
  auto const home = of.row.home;
  auto const id = of.row.id;
  auto const make_batch = [what, home, id](std::string_view answer) {
    journal_batch batch;
    journal_record record;
    record.home = home;
    record.saga = id;
    record.event = what;
    record.event.payload = answer;
    batch.records.push_back(std::move(record));
    return batch;
  };
  ports_.writer.commit_sql(std::move(statement), make_batch, [this, id, call, what](result<batch_writer::sql_outcome> outcome) {
    auto* const now = find(id);
    if (now == nullptr) return;
    now->sql_in_flight = false;
    if (outcome && outcome->answer) {
      event done = what;
      done.payload = *outcome->answer;
      auto commands = now->machine.apply(done);
      ATONE_ASSERT(commands.has_value());
      now->crashes = 0;
      gather_applied(*now, std::move(*commands), done.at);
    } else {
      sql_done(id, call, std::move(outcome));
    }
    auto* const after = find(id);
    if (after == nullptr) return;
    for (auto& work : std::exchange(after->deferred, {})) work();
  });
}

// While a transaction makes the saga's next event, everything else about it waits.
void engine::when_free(instance& of, std::function<void()> work) {
  if (of.sql_in_flight) {
    of.deferred.push_back(std::move(work));
  } else {
    work();
  }
}

void engine::sql_done(saga_id id, call_command const& call, result<batch_writer::sql_outcome> outcome) {
  if (!outcome) return stop_driving(outcome.error());
  call_answer no;
  no.kind = call_answer::kind_of::refused;
  no.text = outcome->refusal;
  (void)answered(id, call.step, call.op, call.n, std::move(no), false);  // its transaction is not there, earlier ones neither
}

void engine::look_up(instance& of, last_output_command const& what) {
  auto const id = of.row.id;
  ports_.lookup.last_output(of.row.definition.name, what.step, what.key,
                            [this, id, step = what.step, not_before = what.not_before](result<std::optional<last_output_row>> found) {
                              auto* const now = find(id);
                              if (now == nullptr || now->reloading || !driving_) return;
                              event answer;
                              answer.kind = event_kind::last_output_missing;
                              answer.cause = now->machine.last();
                              answer.step = step;
                              if (!found) answer.text = "the last output can't be read: " + found.error().message;
                              if (found && *found && (*found)->at >= not_before) {
                                answer.kind = event_kind::last_output_found;
                                answer.payload = (*found)->output;
                                answer.text = "written by " + (*found)->written_by.text() + " at " + format_timestamp((*found)->at);
                              }
                              auto const act = [this, id, answer] {
                                if (auto* const of_now = find(id)) (void)deliver(*of_now, answer);  // refused only when no longer wanted
                              };
                              when_free(*now, act);
                            });
}

void engine::on_wake() {
  alarm_.reset();
  auto const now = ports_.clock.now();
  for (std::size_t handled = 0; handled < settings_.timers_a_turn && driving_ && !stopping_; ++handled) {
    auto const timer = timers_.due(now);
    if (!timer) break;
    fire(*timer);
  }
  set_alarm();
}

void engine::fire(armed_timer const& timer) {
  auto* const of = find(timer.saga);
  ATONE_ASSERT(of != nullptr);  // a saga's timers go with it
  timers_.cancel(of->timers, timer.kind, timer.step, timer.op);
  auto const act = [this, timer] {
    auto* const now = find(timer.saga);
    if (now == nullptr) return;
    event what;
    what.kind = event_kind::timer_fired;
    what.cause = now->machine.last();
    what.step = timer.step;
    what.op = timer.op;
    what.timer = timer.kind;
    (void)deliver(*now, std::move(what));  // a timer that is no longer armed in the machine is refused: nothing to do
  };
  when_free(*of, act);
}

void engine::set_alarm() {
  if (!driving_ || stopping_) return;
  auto const due = timers_.next_due();
  if (due == alarm_) return;
  alarm_ = due;
  ports_.turns.wake_at(due);
}

}  // namespace atone::runtime
