// What follows once a batch is durable: who has started, who lost, who was refused, who is told.
#include <algorithm>
#include <tuple>
#include <utility>

#include "instance.hpp"
#include "planted.hpp"

namespace atone::runtime {

// Another saga holds the key: the same body makes it an answer, another body a conflict.
void engine::settle_losers(commit_report const& report) {
  for (auto const& loser : report.losers) {
    auto* const of = find(loser.refused);
    if (of == nullptr) continue;
    auto const then = std::move(of->on_started);
    bool const same = loser.body == of->body;
    auto const key = of->row.key.value();
    drop(loser.refused);
    if (!then) continue;
    if (loser.existing.empty()) {
      then(error{errc::unavailable, "key '" + key + "' was another saga's, which is being deleted; try again"});
      continue;
    }
    if (!same) {
      then(error{errc::conflict, "key '" + key + "' was used with another input, by saga " + loser.existing.text()});
      continue;
    }
    started answer;
    answer.id = planted(planted_bug::loser_hears_its_own_id) ? loser.refused : loser.existing;
    answer.replayed = true;
    then(answer);
  }
}

// A start for another's shard is durable: its driver goes on with it. That may be us by now.
void engine::settle_foreign(gathering& sent, instance& of) {
  auto const id = of.row.id;
  auto loaded = std::move(of.loaded);
  auto const rests_there = of.rests_there;
  drop(id);
  if (rests_there) {
    lay_down(*rests_there);
    return set_alarm();
  }
  if (loaded == nullptr) return;
  std::erase_if(sent.after, [&](auto const& one) { return one.first == id; });  // replaying it says what is outstanding
  recover(std::move(*loaded));
  resume(*find(id));
  schedule_flush();
}

void engine::settle_starts(gathering& sent) {
  for (auto const id : sent.starts) {
    auto* const of = find(id);
    if (of == nullptr || !of->starting) continue;  // lost or refused
    of->starting = false;
    ++figures_.started;
    if (!of->machine.lock().empty() && !of->machine.has_lock()) grant_soon(of->machine.lock());
    ports_.probe.saga_started(of->row);
    auto const then = std::move(of->on_started);
    of->on_started = nullptr;
    started answer;
    answer.id = id;
    if (of->foreign && !planted(planted_bug::foreign_goes_on)) settle_foreign(sent, *of);
    if (then) then(answer);
  }
}

// A call that still waits in its sender must not leave while a person decides about it; it goes out again when the saga goes on.
void engine::take_all_unsent(instance& of) {
  if (planted(planted_bug::leave_in_the_queue)) return;
  for (auto const& out : of.machine.outstanding()) {
    if (auto const* const call = std::get_if<call_command>(&out)) (void)take_unsent(of.row.id, call->step, call->op);
  }
}

// The store refuses this saga's data. A start has not happened; of a running saga memory is ahead of the store: it is read again and
// parked.
void engine::settle_rejected(gathering& sent, std::vector<rejected_saga> const& rejected) {
  if (planted(planted_bug::go_on_when_refused)) return;
  for (auto const& one : rejected) {
    auto* const of = find(one.saga);
    if (of == nullptr) continue;
    if (of->starting) {
      auto const then = std::move(of->on_started);
      drop(one.saga);
      if (then) then(error{errc::invalid_argument, "the store refuses this saga's data: " + one.why.message});
      continue;
    }
    take_all_unsent(*of);
    std::erase_if(sent.after, [&](auto const& made) { return made.first == one.saga; });  // of events that are not in the store
    forget_gathered(one.saga, one.why);
    timers_.cancel_all(of->timers);
    auto why = "the store refused its data: " + one.why.message;
    if (of->parking == sent.number) {
      give_up_storing(*of, std::move(why));
      continue;
    }
    of->reloading = true;
    ports_.lookup.reload(one.saga, [this, id = one.saga, why = std::move(why)](result<std::optional<open_saga>> found) {
      park_reloaded(id, why, std::move(found));
    });
  }
}

// Not even that it is parked can be written: trying again would never end. Nothing of it is written or sent until the next start of this
// process, or of the shard's next owner.
void engine::give_up_storing(instance& of, std::string why) {
  of.broken = std::move(why);
  of.row.status = saga_status::parked;
  of.row.cause = of.broken;
  leave_queue(of);
  alert_row told;  // about no saga: nothing of this one can be written
  told.kind = "unstorable: " + of.row.id.text();
  told.level = alert_level::page;
  told.text = "saga " + of.row.id.text() + ": not even that it is parked can be written; nothing is sent for it before the next start";
  told.raised_at = ports_.clock.now();
  raise(told);
  error const for_waiters{errc::bad_data, told.text};
  for (auto& [number, then] : std::exchange(of.waiters, {})) then(for_waiters);
}

void engine::park_reloaded(saga_id id, std::string why, result<std::optional<open_saga>> found) {
  auto* const old = find(id);
  if (old == nullptr) return;
  if (!found || !*found) {
    old->reloading = false;
    old->broken = why + "; and its history can't be read: " + (found ? "it is not there" : found.error().message);
    leave_queue(*old);
    resume(*old);
    return schedule_flush();
  }
  auto waiters = std::move(old->waiters);
  auto const [life, calls, locals] = std::tuple{old->life, old->calls_out, old->locals_out};  // what is out stays out
  drop(id);
  recover(std::move(**found));
  auto* const fresh = find(id);
  ATONE_ASSERT(fresh != nullptr);
  fresh->waiters = std::move(waiters);
  fresh->life = life;
  fresh->calls_out = calls;
  fresh->locals_out = locals;
  if (fresh->broken.empty()) {
    take_all_unsent(*fresh);  // what the event that was refused had given up is out still
    park(*fresh, std::move(why));
    fresh->parking = fresh->batch;
    return;
  }
  resume(*fresh);  // nothing is added to a history that is not understood
  schedule_flush();
}

void engine::notify(saga_id id) {
  auto* const of = find(id);
  if (of == nullptr || of->reloading) return;                            // the store does not have what memory says
  if (has_gathered(*of) && !planted(planted_bug::tell_the_end_early)) {  // nor this: told with the batch that has it
    gathering_->notify.push_back(id);
    return schedule_flush();
  }
  of->untold = false;
  if (!is_final(of->row.status) && of->row.status != saga_status::parked) return;
  auto const waiters = std::exchange(of->waiters, {});
  auto view = waiters.empty() ? std::optional<saga_view>{} : std::optional{view_of(*of)};
  if (is_final(of->row.status)) {
    ++(of->row.status == saga_status::completed ? figures_.completed : figures_.compensated);
    ports_.probe.saga_ended(of->row);
    drop(id);
  } else {
    ++figures_.parked;
    ports_.probe.saga_parked(of->row);
    to_rest_.push_back(id);
  }
  for (std::size_t at = 0; at < waiters.size(); ++at) {
    auto const& then = waiters[at].second;
    at + 1 < waiters.size() ? then(view) : then(std::move(view));
  }
}

void engine::drop(saga_id id) {
  auto const found = open_.find(id);
  if (found == open_.end()) return;
  if (auto const arriving = arriving_.find(id); arriving != arriving_.end()) arriving->second = true;
  timers_.cancel_all(found->second->timers);
  leave_lock(*found->second);
  open_.erase(found);
}

}  // namespace atone::runtime
