// What the store accepts: who may write, whether histories are whole, whether rows say what replay says.
#include <algorithm>

#include "judge.hpp"
#include "judge_facts.hpp"

namespace atone::simulation {

void judge::epoch_raised(writer_number of, epoch to, bool alive) {
  auto& known = writers_[of];
  if (alive && to <= known.epoch) wrong("stale-write", "epoch " + std::to_string(to.value()) + " is used again by another process");
  known.epoch = std::max(known.epoch, to);
  known.alive = alive;
}

void judge::shard_moved(shard which, std::optional<writer_number> to, epoch as) {
  auto& known = leases_[which];
  if (to && as <= known.epoch && known.writer != to) {
    wrong("owner", "shard " + std::to_string(which.value()) + " changes hands without a higher epoch");
  }
  known.writer = to;
  known.epoch = std::max(known.epoch, as);
}

void judge::committed(writer_number by, epoch under, journal_batch const& what, std::vector<start_loser> const& losers) {
  ++checks_;
  check_writer(by, under, what);
  for (auto const& start : what.starts) open(start);
  for (auto const& one : what.records) record(by, what, one);
  for (auto const& change : what.changes) {
    auto* const of = find(change.row.id);
    if (of == nullptr) continue;
    of->row = change.row.status;
    of->cause = change.row.cause;
    of->wake_at = change.row.wake_at;
  }
  saga_id last;
  for (auto const& one : what.records) {
    if (one.saga != last) {
      if (auto* const of = find(one.saga)) check_row(*of, what);
    }
    last = one.saga;
  }
  for (auto const& lock : std::exchange(passed_on_, {})) locks_.erase(lock);
  for (auto const& loser : losers) {
    if (find(loser.existing) == nullptr) wrong("one-key", "a start lost its key to a saga that is not there");
  }
}

void judge::check_writer(writer_number by, epoch under, journal_batch const&) {
  auto const known = writers_.find(by);
  if (known == writers_.end() || known->second.epoch != under || !known->second.alive) {
    wrong("stale-write",
          "writer " + std::to_string(by.value()) + " wrote under epoch " + std::to_string(under.value()) + ", which is over");
  }
}

void judge::open(saga_start const& start) {
  auto const definition = definitions_.find(start.row.definition.name);
  if (definition == definitions_.end() || cases_.contains(start.row.id)) {
    return wrong("replay", "a start that can't be: " + start.row.definition.name);
  }
  auto made = std::make_unique<saga_case>(start.row.id, definition->second, start.row.key);
  made->home = start.row.home;
  made->begun = now_();
  made->row = start.row.status;
  made->cause = start.row.cause;
  made->wake_at = start.row.wake_at;
  std::pair const name{start.row.definition.name, start.row.key.value()};
  if (auto const with = expected_.find(name); with != expected_.end()) made->with = with->second;
  auto const [holder, first] = holders_.emplace(name, start.row.id);
  if (!first) wrong("one-key", name.first + " " + name.second + " has two sagas");
  in_order_.push_back(made.get());
  cases_.emplace(start.row.id, std::move(made));
  ++open_;
}

void judge::record(writer_number by, journal_batch const& batch, journal_record const& one) {
  ++checks_;
  if (trace_) trace_(one.saga, one.event);
  auto* const of = find(one.saga);
  if (of == nullptr) return wrong("replay", "an event of a saga that was never started");
  if (of->ended) wrong("after-end", *of, std::string{name(one.event.kind)} + " is journalled after the end");
  auto const lease = leases_.find(of->home);
  bool const owned = lease == leases_.end() || lease->second.writer == by;
  bool const left_to_another = std::find(batch.foreign.begin(), batch.foreign.end(), of->home) != batch.foreign.end();
  if (!owned && !(one.event.kind == event_kind::started && left_to_another)) {
    wrong("owner", *of, "writer " + std::to_string(by.value()) + " wrote an event of a shard that it does not drive");
  }
  if (one.event.seq.value() != of->shadow.last().value() + 1) {
    return wrong("replay", *of,
                 "event " + std::to_string(one.event.seq.value()) + " comes after " + std::to_string(of->shadow.last().value()));
  }
  note_event(*of, one.event);
  if (auto const applied = of->shadow.apply(one.event); !applied) {
    wrong("replay", *of, "event " + std::to_string(one.event.seq.value()) + " can't be replayed: " + applied.error().message);
  }
  if (!of->shadow.lock().empty()) note_lock(*of, one.event);
}

// A lock is one saga's until its end is durable, and then the next one's in the order of their starts. The order is known where one
// coordinator drives all: a start at another node is durable before its driver hears of it.
void judge::note_lock(saga_case& of, event const& what) {
  auto& queue = lock_queues_[of.shadow.lock()];
  if (what.kind == event_kind::started) of.started_at = what.at;
  std::pair const own{of.started_at, of.id};
  if (of.shadow.status() == saga_status::waiting) queue.insert(own);
  if (what.kind == event_kind::lock_granted) {
    if (!locks_.emplace(of.shadow.lock(), of.id).second) wrong("lock", of, "it has a lock that another saga has");
    // One whose data was refused had left the queue in memory; it is parked instead.
    auto const first = std::find_if(queue.begin(), queue.end(), [&](auto const& one) { return !refused_.contains(one.second); });
    if (leases_.empty() && !refused_.contains(of.id) && (first == queue.end() || own != *first))
      wrong("lock", of, "it has the lock before one that was started earlier");
  }
  if (of.shadow.status() != saga_status::waiting) queue.erase(own);
}

void judge::note_event(saga_case& of, event const& what) {
  switch (what.kind) {
    case event_kind::cancel_requested:
      ++of.cancels;
      if (of.pivot_done) wrong("decision", of, "a cancel was accepted after the pivot");
      break;
    case event_kind::pause_requested: ++of.pauses; break;
    case event_kind::resume_requested: ++of.resumes; break;
    case event_kind::operator_retry:
      ++of.operators;
      if (!what.step.empty()) ++facts(of, what.step.text()).retries;
      break;
    case event_kind::operator_skip:
    case event_kind::operator_complete:
      ++of.operators;
      facts(of, what.step.text()).by_person = true;
      break;
    default: note_step_event(of, what);
  }
}

void judge::note_step_event(saga_case& of, event const& what) {
  if (what.step.empty()) return;
  auto& known = facts(of, what.step.text());
  bool const act = what.op == operation::act;
  if (what.n.value() > 0 && what.kind != event_kind::timer_fired) known.heard[{what.op, what.n.value()}].insert(what.kind);
  switch (what.kind) {
    case event_kind::step_succeeded:
      if (act && !known.odd_answer) known.done = true;  // an answer that does not fit is none
      if (what.op == operation::compensate) known.undone = true;
      if (act && of.of->pivot == what.step.text()) of.pivot_done = true;
      break;
    case event_kind::step_refused:
      known.gave_up = known.gave_up || act;
      if (act) ++known.refusals;
      if (act && what.sureness != certainty::unknown) ++known.sure_no;
      break;
    case event_kind::attempt_failed:
      known.gave_up = known.gave_up || act;
      if (act && what.sureness == certainty::not_done) ++known.sure_no;
      break;
    case event_kind::timer_fired:
      known.gave_up = known.gave_up || (act && what.timer == timer_kind::step_timeout);
      if (act && what.timer == timer_kind::step_timeout && what.sureness == certainty::not_done) ++known.sure_no;
      break;
    default: break;
  }
}

// From here on nothing new begins; what had been asked for may still leave.
void judge::turn(saga_case& of) {
  if (std::exchange(of.turned, true)) return;
  for (auto const& step : of.shadow.steps()) facts(of, step.path.text()).begun = step.attempts;
}

// The row that lists are made from must say what replaying the journal says.
void judge::check_row(saga_case& of, journal_batch const& batch) {
  if (of.row != of.shadow.status()) {
    wrong("replay", of, "its row says otherwise than its journal, which says " + std::string{name(of.shadow.status())});
  }
  if (of.wake_at) check_rest(of);
  if (of.row == saga_status::compensating) turn(of);
  if (of.row == saga_status::parked && !of.was_parked) check_parking(of, batch);
  of.was_parked = of.row == saga_status::parked;
  if (is_final(of.row) && !of.ended) {
    of.ended = true;
    --open_;
    auto const lock = locks_.find(of.shadow.lock());
    if (lock != locks_.end() && lock->second == of.id) passed_on_.push_back(lock->first);
  }
}

// Whoever takes it over believes the row, and reads its history no sooner than that.
void judge::check_rest(saga_case& of) {
  auto first = wakes_never;
  for (auto const& one : of.shadow.outstanding()) {
    auto const* const timer = std::get_if<arm_timer_command>(&one);
    if (timer == nullptr) return wrong("rest", of, "its row says that it rests, and a request of it is under way");
    first = std::min(first, timer->due);
  }
  if (*of.wake_at > first) {  // sooner is harmless, and right where a clock was ahead and has been set back since
    wrong("rest", of,
          "its row wakes it at " + format_timestamp(*of.wake_at) + ", and its first timer is due at " + format_timestamp(first));
  }
}

// A person must be able to see that it waits, and for what; and what it waits for must have happened.
void judge::check_parking(saga_case& of, journal_batch const& batch) {
  ++parkings_;
  bool const told = std::any_of(batch.alerts.begin(), batch.alerts.end(),
                                [&](alert_row const& one) { return one.saga == of.id && one.kind == "parked" && !one.text.empty(); });
  if (!told) wrong("park-reason", of, "it is parked, and nobody is told why");
  if (of.shadow.parked_itself()) {
    if (!refused_.contains(of.id)) wrong("park-reason", of, "it is parked for no reason: " + of.cause);
    return;
  }
  for (auto const& step : of.shadow.steps()) {
    auto const plan = of.of->steps.find(step.path.text());
    if (plan == of.of->steps.end()) continue;
    auto const& known = facts(of, step.path.text());
    if (step.undo == undo_phase::parked) {
      bool const spent = plan->second.undo_attempts && step.undo_attempts >= *plan->second.undo_attempts;
      bool const long_enough = !steady_ || now_() - known.undo_first >= std::chrono::seconds{20};  // by a clock that jumps it may be sooner
      if (!spent && !long_enough && !known.undo_refused)
        wrong("park-reason", of, step.path.text() + ": its compensation is parked without a cause");
    }
    // What it would be sent can't be computed where a person has skipped the step whose answer it is.
    bool const no_input = !plan->second.reads.empty() && facts(of, plan->second.reads).by_person;
    if (step.phase == run_phase::parked && !known.refused && !known.odd_answer && !known.gave_up && !no_input) {
      wrong("park-reason", of, step.path.text() + " is parked without a cause");
    }
  }
}

}  // namespace atone::simulation
