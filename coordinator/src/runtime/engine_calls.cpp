// Commands that leave, and answers that come.
#include <algorithm>
#include <utility>

#include "instance.hpp"
#include "planted.hpp"

namespace atone::runtime {
void engine::perform(saga_id id, command what) {
  auto* const of = find(id);
  if (of == nullptr || of->reloading || (of->foreign && !planted(planted_bug::foreign_goes_on))) return;
  if (auto* call = std::get_if<call_command>(&what)) {
    if (std::holds_alternative<sql_request_spec>(call->request)) return send_sql(*of, *call);
    return send_call(*of, std::move(*call));
  }
  if (auto const* abandon = std::get_if<abandon_command>(&what)) {
    return abandon->only_unsent ? take_back_call(id, abandon->step, abandon->op) : give_up_call(id, abandon->step, abandon->op);
  }
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
  if (ports_.calls.abandon(id, step, op) == given_up::out) return;
  call_over(find(id), step, op);
  suspect_done(id, step, op);
}

void engine::suspect_done(saga_id id, step_path const& step, operation op) {
  auto const same = [&](call_in_lane const& one) { return one.saga == id && one.step == step && one.op == op; };
  if (std::erase_if(suspects_out_, same) > 0) next_suspects();
}

// The saga has failed: a call that has not left is not sent any more, and surely not done.
void engine::take_back_call(saga_id id, step_path const& step, operation op) {
  if (!take_unsent(id, step, op)) return;
  auto* const of = find(id);
  if (of == nullptr) return;
  when_free(*of, [this, id, step, op] {
    auto* const now = find(id);
    auto const n = now == nullptr ? attempt{} : now->machine.attempt_out(step, op);
    if (n.value() == 0) return;
    bool const resent = was_resent(*now, step, op);
    call_answer none;
    none.sureness = resent ? certainty::unknown : certainty::not_done;
    none.text = "taken back before it left: the saga had failed";
    (void)answered(id, step, op, n, std::move(none), false);
  });
}

// True: it had not left, and will not.
bool engine::take_unsent(saga_id id, step_path const& step, operation op) {
  auto const same = [&](auto const& one) { return one.first == id && one.second.step == step && one.second.op == op; };
  if (std::erase_if(suspects_, same) > 0) return true;
  if (std::erase_if(withheld_, same) > 0) {
    suspect_done(id, step, op);
    return true;
  }
  if (ports_.calls.take_back(id, step, op) != given_up::never_left) return false;
  call_over(find(id), step, op);
  suspect_done(id, step, op);
  return true;
}

// `of`: null where the saga is not here any more, or is here anew.
void engine::call_over(instance* of, step_path const& step, operation op) {
  --figures_.calls_in_flight;
  if (of == nullptr) return;
  if (of->calls_out > 0) --of->calls_out;
  auto const local = std::find(of->locals_out.begin(), of->locals_out.end(), std::pair{step, op});
  if (local != of->locals_out.end()) of->locals_out.erase(local);
}

bool engine::was_resent(instance const& of, step_path const& step, operation op) {
  return std::find(of.resent.begin(), of.resent.end(), std::pair{step, op}) != of.resent.end();
}

// After a crash the local calls that were under way go out few at a time, each marked in the store before: those marked by an earlier
// crash alone. So the one whose handler brings the process down is found, and its neighbours are not parked with it.
void engine::send_call(instance& of, call_command call) {
  bool const wanted = of.machine.expects(call.step, call.op, call.n) || planted(planted_bug::send_what_is_over);
  if (!wanted) return;  // given up, or answered otherwise, while it waited for its turn
  if (call.again && !was_resent(of, call.step, call.op)) of.resent.emplace_back(call.step, call.op);
  auto const* const local = std::get_if<local_request_spec>(&call.request);
  if (!of.suspect || local == nullptr) return send_now(of, std::move(call));
  if (!ports_.calls.serves(local->handler)) {
    unserved_.emplace_back(of.row.id, std::move(call));
    return;
  }
  of.crashes_found > 0 ? suspects_.emplace_front(of.row.id, std::move(call)) : suspects_.emplace_back(of.row.id, std::move(call));
  next_suspects();
}

void engine::handlers_changed() {
  for (auto& [id, call] : std::exchange(unserved_, {})) {
    auto* const of = find(id);
    if (of != nullptr && of->machine.expects(call.step, call.op, call.n)) send_call(*of, std::move(call));
  }
}

std::map<std::string, std::size_t> engine::unserved() const {
  std::map<std::string, std::size_t> counts;
  for (auto const& [id, call] : unserved_) ++counts[std::get<local_request_spec>(call.request).handler];
  return counts;
}

void engine::next_suspects() {
  // One that hangs and is not waited for any more holds up nobody, least of all its own compensation.
  std::erase_if(suspects_out_, [this](call_in_lane const& one) {
    auto const* const of = find(one.saga);
    return of == nullptr || !of->machine.expects(one.step, one.op, one.n);
  });
  while (!suspects_.empty() && driving_ && !stopping_) {
    auto* const of = find(suspects_.front().first);
    auto const& front = suspects_.front().second;
    if (of == nullptr || !of->machine.expects(front.step, front.op, front.n)) {
      suspects_.pop_front();
      continue;
    }
    if (leaving(*of) || !ports_.lease.holds()) return;  // not marked for what is not sent
    // Those that were found marked go alone.
    bool const marked = of->crashes_found > 0;
    bool const alone =
        marked || std::any_of(suspects_out_.begin(), suspects_out_.end(), [](call_in_lane const& one) { return one.marked; });
    if (suspects_out_.size() >= (alone ? 1 : settings_.suspects_max)) return;
    auto const id = suspects_.front().first;
    auto const call = std::move(suspects_.front().second);
    suspects_.pop_front();
    suspects_out_.push_back(call_in_lane{id, call.step, call.op, call.n, marked});
    if (of->crashes == of->crashes_found) ++of->crashes;  // once a process, however many of its calls were out
    gather_row(*of);
    tell(id, [this, id, call](error const* failed) {
      auto* const now = failed == nullptr && driving_ && !stopping_ ? find(id) : nullptr;
      if (now != nullptr && now->machine.expects(call.step, call.op, call.n)) return send_now(*now, call);
      suspect_done(id, call.step, call.op);
    });
  }
}

void engine::send_now(instance& of, call_command call) {
  bool const stands = ports_.lease.holds() || planted(planted_bug::ignore_lease);
  if (leaving(of) || !stands) {
    withheld_.emplace_back(of.row.id, std::move(call));
    return;
  }
  outgoing_call out;
  out.saga = of.row.id;
  out.step = call.step;
  out.op = call.op;
  out.n = call.n;
  auto const leased = epochs_.find(of.row.home);
  out.epoch = leased == epochs_.end() || planted(planted_bug::stale_lease_epoch) ? epoch_ : leased->second;
  out.key = trace_id::of(of.row.id, call.step, call.op);
  if (planted(planted_bug::new_key_each_attempt))
    out.key = trace_id::of(of.row.id, call.step.child(std::to_string(call.n.value())), call.op);
  out.service = call.service;
  out.request = std::move(call.request);
  out.attempt_timeout = call.attempt_timeout;
  if (auto const* to = of.machine.bound_to().find_service(call.service)) {
    auto const other = settings_.addresses.find(call.service);
    out.address = other == settings_.addresses.end() ? to->address : other->second;
    out.in_flight_max = to->in_flight_max;
  }
  ++figures_.calls;
  ++figures_.calls_in_flight;
  ++of.calls_out;
  if (std::holds_alternative<local_request_spec>(out.request)) of.locals_out.emplace_back(call.step, call.op);
  ports_.probe.call_sent(out);
  ports_.calls.send(std::move(out), [this, id = of.row.id, life = of.life, step = std::move(call.step), op = call.op, n = call.n,
                                     again = call.again](call_answer answer) {
    auto* const now = find(id);
    call_over(now != nullptr && now->life == life ? now : nullptr, step, op);
    ports_.probe.call_answered(id, step, op, n, answer);
    // It may be here anew, its shard having gone and come back: then the same attempt has been sent once more.
    bool const resent = again || (now != nullptr && was_resent(*now, step, op));
    (void)answered(id, step, op, n, std::move(answer), resent);  // an answer that nobody waits for is recorded inside
    suspect_done(id, step, op);
    tell_quiet();
  });
}

// `again`: the same attempt had been sent before a take-over. Whatever this sending did not do, the earlier one may have done.
result<void> engine::answered(saga_id id, step_path const& step, operation op, attempt n, call_answer answer, bool again) {
  if (!driving_) return not_driving();
  auto* const of = find(id);
  if (of == nullptr || of->reloading || !of->broken.empty()) {  // nothing is added to a history that is not understood
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
  if (again && answer.kind != call_answer::kind_of::done && !planted(planted_bug::take_over_is_certain)) what.sureness = certainty::unknown;
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
  auto const recorded = deliver(of, what);
  ATONE_ASSERT(recorded.has_value());
}

void engine::report(saga_id id, step_path step, operation op, attempt n, call_answer answer, callback<void> then) {
  if (rests(id) && driving_ && !stopping_) {
    return wake(id, [this, id, step, op, n, answer, then](error const* failed) {
      failed != nullptr ? then(*failed) : report(id, step, op, n, answer, then);
    });
  }
  auto* const of = find(id);
  if (of != nullptr && of->foreign && !planted(planted_bug::foreign_goes_on)) {  // its driver has sent it already, and hears of it
    return ports_.turns.defer(
        [then, id] { then(error{errc::unavailable, "saga " + id.text() + " is on its way to its driver; try again"}); });
  }
  if (of != nullptr && of->sql_in_flight) {
    return when_free(*of, [this, id, step, op, n, answer, then] { report(id, step, op, n, answer, then); });
  }
  bool const again = of != nullptr && was_resent(*of, step, op);
  auto taken = answered(id, step, op, n, std::move(answer), again);
  if (taken) give_up_call(id, step, op);
  if (!taken && (!driving_ || taken.error().code == errc::not_found)) {
    return ports_.turns.defer([then, why = taken.error()] { then(why); });
  }
  if (taken && planted(planted_bug::acknowledge_report_early)) return then(result<void>{});
  // Told only once the answer, or the record that it came late, is durable.
  auto const refusal = taken ? std::nullopt : std::optional{taken.error()};
  tell(id, [then, refusal](error const* failed) {
    if (failed != nullptr) return then(*failed);
    if (refusal) return then(*refusal);
    then(result<void>{});
  });
}

namespace {

journal_batch batch_of_statement(event done, saga_row const& row, saga_machine machine, std::string_view answer) {
  done.payload = answer;
  auto commands = machine.apply(done);
  ATONE_ASSERT(commands.has_value());
  journal_batch batch;
  for (auto& made : *commands) add_rows(batch, row, made, done.at);
  journal_record record;
  record.home = row.home;
  record.saga = row.id;
  record.event = std::move(done);
  batch.records.push_back(std::move(record));
  return batch;
}

}  // namespace

// The statement, the event that says it succeeded, and all that follows from it, in one transaction. The event is made on the
// writer's thread from a copy of the machine; nothing else happens to the saga meanwhile, so the machine here comes to the same.
void engine::send_sql(instance& of, call_command const& call) {
  if (of.sql_in_flight) {
    return when_free(of, [this, id = of.row.id, call] { perform(id, call); });
  }
  if (!of.machine.expects(call.step, call.op, call.n))
    return;  // given up while it waited: run now, it would be an effect that nobody undoes
  if (leaving(of)) return static_cast<void>(withheld_.emplace_back(of.row.id, call));
  if (has_gathered(of)) {
    // Its earlier events must be durable first: a history has no gaps.
    return tell(of.row.id, [this, id = of.row.id, call](error const* failed) {
      if (failed == nullptr && driving_ && !stopping_) perform(id, call);
    });
  }
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
  auto const make_batch = [what, row = of.row, machine = of.machine](std::string_view answer) {
    return batch_of_statement(what, row, machine, answer);
  };
  ports_.writer.commit_sql(std::move(statement), make_batch, [this, id = of.row.id, call, what](result<batch_writer::sql_outcome> outcome) {
    sql_ended(id, call, what, std::move(outcome));
  });
}

void engine::sql_ended(saga_id id, call_command const& call, event done, result<batch_writer::sql_outcome> outcome) {
  auto* const of = find(id);
  if (of == nullptr) return;
  of->sql_in_flight = false;
  if (outcome && outcome->answer) {
    done.payload = *outcome->answer;
    auto commands = of->machine.apply(done);
    ATONE_ASSERT(commands.has_value());
    of->crashes = of->crashes_found = 0;
    gather_applied(*of, std::move(*commands), done.at);  // rows that are there already are written once more, and are the same
  } else {
    sql_failed(id, call, std::move(outcome));
  }
  next_deferred(id);
}

// One after the other: the first may begin a transaction that the others have to wait for again.
void engine::next_deferred(saga_id id) {
  for (;;) {
    auto* const of = find(id);
    if (of == nullptr || of->sql_in_flight || of->deferred.empty()) return;
    auto const work = std::move(of->deferred.front());
    of->deferred.pop_front();
    work();
  }
}

// While a transaction makes the saga's next event, everything else about it waits.
void engine::when_free(instance& of, std::function<void()> work) {
  if (of.sql_in_flight) {
    of.deferred.push_back(std::move(work));
  } else {
    work();
  }
}

void engine::sql_failed(saga_id id, call_command const& call, result<batch_writer::sql_outcome> outcome) {
  if (!outcome) return stop_driving(outcome.error());
  call_answer no;
  no.kind = outcome->may_pass ? call_answer::kind_of::failed : call_answer::kind_of::refused;
  no.sureness = certainty::not_done;
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
                                auto what_came = answer;
                                if (auto* const of_now = find(id)) (void)deliver(*of_now, what_came);  // refused only when no longer wanted
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
  wake_due();
  set_alarm();
}

void engine::fire(armed_timer const& timer) {
  auto* const of = find(timer.saga);
  ATONE_ASSERT(of != nullptr);  // a saga's timers go with it
  timers_.cancel(of->timers, timer.kind, timer.step, timer.op);
  if (leaving(*of)) return timers_.arm(of->timers, ports_.clock.now() + leaving_timer_pause, timer);  // its next owner's, most likely
  auto const act = [this, timer] {
    auto* const now = find(timer.saga);
    if (now == nullptr) return;
    event what;
    what.kind = event_kind::timer_fired;
    what.cause = now->machine.last();
    what.step = timer.step;
    what.op = timer.op;
    what.timer = timer.kind;
    // It may end with this event: what waits in its sender must not leave between that and the commit's answer.
    bool const gives_up =
        timer.kind == timer_kind::step_timeout && timer.op == operation::act && now->machine.gives_up_at_timeout(timer.step);
    bool const never_left = gives_up && take_unsent(timer.saga, timer.step, timer.op);
    if (never_left && !was_resent(*now, timer.step, timer.op)) what.sureness = certainty::not_done;
    (void)deliver(*now, what);  // a timer that is no longer armed in the machine is refused: nothing to do
  };
  when_free(*of, act);
}

void engine::set_alarm() {
  if (!driving_ || stopping_) return;
  auto due = timers_.next_due();
  if (auto const wakes = next_wake()) due = due ? std::min(*due, *wakes) : wakes;
  if (due == alarm_) return;
  alarm_ = due;
  ports_.turns.wake_at(due);
}

}  // namespace atone::runtime
