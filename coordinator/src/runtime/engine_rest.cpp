// Sagas that wait long are in the store alone; here are only their ids, and when they wake.
//
// A saga rests where nothing of it is under way but timers that are far off, and its row says so: what says it (saga_row::wake_at) is
// written in the transaction of the event that began the wait, and taken back in that of the next event. So whoever takes the saga over may
// trust the row, and needs no history. It is read and replayed again when its first timer is due, or when somebody asks for what needs it
// in memory; views come from the store. Until its next event is durable, a crash finds it resting still, and nothing is lost but the
// reading.
#include <algorithm>
#include <utility>

#include "instance.hpp"
#include "planted.hpp"

namespace atone::runtime {
namespace {

constexpr duration unreadable_pause = std::chrono::minutes{1};
constexpr duration leaving_pause = std::chrono::seconds{1};
constexpr std::size_t reads_ahead = 2;  // of wakes_a_read, taken off the queue of those that are due

}  // namespace

// What the row is to say as of the newest event.
std::optional<timestamp> engine::wake_of(instance const& of) const {
  if (planted(planted_bug::keep_wake_at) && of.row.wake_at) return of.row.wake_at;
  auto const until = rests_until(of);
  bool const long_enough = until && *until - ports_.clock.now() >= settings_.rest_least;
  return long_enough ? until : std::nullopt;
}

std::optional<timestamp> engine::rests_until(instance const& of) {
  auto const until = of.machine.rests_until();
  return until && *until != wakes_never ? std::optional{*until - of.ahead} : until;
}

// When the batch that gathers has left.
void engine::rest_soon(instance const& of) {
  if (of.row.wake_at) gathering_->rest.push_back(of.row.id);
}

// A few a turn: each is taken apart.
void engine::rest_some() {
  for (std::size_t done = 0; done < settings_.timers_a_turn && !to_rest_.empty(); ++done) {
    auto const id = to_rest_.front();
    to_rest_.pop_front();
    try_rest(id);
  }
  rests_scheduled_ = !to_rest_.empty();
  if (rests_scheduled_) ports_.turns.defer([this] { rest_some(); });
  set_alarm();
}

void engine::try_rest(saga_id id) {
  auto* const of = find(id);
  if (of == nullptr || !driving_ || stopping_) return;
  bool const own = !of->foreign && of->broken.empty();
  if (!own || !of->row.wake_at || of->untold || !quiet(*of)) return;
  auto const until = rests_until(*of);  // not by the row: it may have just been woken for that
  auto const least = std::max(settings_.rest_least, duration{1});
  if (!until || *until - ports_.clock.now() < least) return;
  resting_saga made{of->row};
  made.wake_at = *until;
  if (!of->waiters.empty()) resting_waits_.emplace(id, std::move(of->waiters));
  drop(id);
  lay_down(made);
}

void engine::lay_down(resting_saga const& of) {
  bed made;
  made.id = of.place.id;
  made.wake_at = made.due = of.wake_at;
  made.life = ++lives_;
  made.home = of.place.home;
  made.parked = of.parked;
  set_to_wake(resting_.put(made));
}

void engine::set_to_wake(bed const& one) {
  if (one.wake_at == wakes_never || planted(planted_bug::sleep_for_ever)) return;
  wakes_.push(one.wake_at, one.id);
  wakes_.tidy(resting_.size(), [this](wake_queue::entry const& entry) { return sleeper_of(entry) != nullptr; });
}

// Null: it was woken otherwise since, or is another's.
bed* engine::sleeper_of(wake_queue::entry const& entry) {
  auto* const lies = resting_.find(entry.id);
  return lies != nullptr && !lies->waking && lies->wake_at == entry.at ? lies : nullptr;
}

void engine::adopt(std::vector<resting_saga> const& sagas) {
  if (lost_) return;
  auto const now = ports_.clock.now();
  for (auto one : sagas) {
    if (rests(one.place.id)) continue;
    // Written by a clock that was ahead and has been set right since: it waits for its own time only, from now on.
    if (one.written_at > now && one.wake_at != wakes_never) one.wake_at -= one.written_at - now;
    if (auto* const here = find(one.place.id); here == nullptr) {
      if (!planted(planted_bug::forget_the_resting)) lay_down(one);
    } else if (here->foreign) {
      here->rests_there = one;
    }
  }
  set_alarm();
}

// ---- waking ----

// Somebody asks for it.
void engine::wake(saga_id id, woken then) {
  queue_waking(id);
  waking_.at(id).push_back(std::move(then));
  read_waking();
}

void engine::queue_waking(saga_id id) {
  auto* const lies = resting_.find(id);
  ATONE_ASSERT(lies != nullptr);
  if (std::exchange(lies->waking, true)) return;
  waking_.try_emplace(id);
  to_wake_.push_back(nap{saga_place{lies->home, id}, lies->life, false});
}

std::optional<timestamp> engine::next_wake() {
  while (!wakes_.empty() && sleeper_of(wakes_.front()) == nullptr) wakes_.pop();
  if (wakes_.empty() || to_wake_.size() >= settings_.wakes_a_read * reads_ahead) return std::nullopt;  // the end of a read goes on
  return wakes_.front().at;
}

// Whatever `open_max` is: they were accepted.
void engine::wake_due() {
  auto const now = ports_.clock.now();
  for (std::size_t looked_at = 0; looked_at < settings_.timers_a_turn && to_wake_.size() < settings_.wakes_a_read * reads_ahead;
       ++looked_at) {
    if (wakes_.empty() || wakes_.front().at > now) break;
    auto* const lies = sleeper_of(wakes_.front());
    wakes_.pop();
    if (lies == nullptr) continue;
    if (leaving_.contains(lies->home)) {  // its next owner's, most likely
      lies->wake_at = now + leaving_pause;
      set_to_wake(*lies);
    } else {
      queue_waking(lies->id);
    }
  }
  read_waking();
}

// One read after the other, and the next when what followed from the last has left: those that are at work have their turns in between.
void engine::read_waking() {
  if (reading_waking_ || to_wake_.empty() || !driving_ || stopping_ || followed_ < woken_in_) return;
  std::vector<nap> which;
  while (!to_wake_.empty() && which.size() < settings_.wakes_a_read) {
    auto const next = to_wake_.front();
    if (next.alone && !which.empty()) break;
    to_wake_.pop_front();
    auto const* const lies = resting_.find(next.place.id);
    if (lies == nullptr || lies->life != next.life) continue;  // gone with its shard
    which.push_back(next);
    if (next.alone) break;
  }
  if (which.empty()) return;
  std::vector<saga_place> places;
  for (auto const& one : which) places.push_back(one.place);
  reading_waking_ = true;
  ports_.lookup.load(std::move(places), [this, which = std::move(which)](result<std::vector<open_saga>> found) {
    reading_waking_ = false;
    if (!driving_ || stopping_) return;
    awake(which, std::move(found));
    wake_due();
    set_alarm();
  });
}

void engine::awake(std::vector<nap> const& which, result<std::vector<open_saga>> found) {
  for (auto const& one : which) {
    auto const id = one.place.id;
    auto const* const lies = resting_.find(id);
    if (lies == nullptr || lies->life != one.life) continue;  // gone meanwhile, and who asked was told
    if (!found && which.size() > 1) {
      to_wake_.push_back(nap{one.place, one.life, true});
      continue;
    }
    open_saga* read = nullptr;
    if (found) {
      auto const at = std::find_if(found->begin(), found->end(), [&](open_saga const& each) { return each.row.id == id; });
      if (at != found->end()) read = &*at;
    }
    if (read == nullptr) {
      stay_asleep(one, found ? error{errc::corrupt, "it is not in the store"} : found.error());
      continue;
    }
    auto const asked = waking_.extract(id);
    get_up(std::move(*read));
    for (auto const& then : asked.mapped()) then(nullptr);
  }
  woken_in_ = gathering_->empty() ? 0 : gathering_->number;
  if (!gathering_->empty()) schedule_flush();
}

void engine::get_up(open_saga&& of) {
  auto const id = of.row.id;
  auto const due = resting_.find(id)->due;
  resting_.erase(id);
  recover(std::move(of));
  auto& up = *find(id);
  if (auto const until = up.machine.rests_until(); until && *until != wakes_never) up.ahead = std::max(duration{0}, *until - due);
  if (auto waiting = resting_waits_.extract(id)) up.waiters = std::move(waiting.mapped());
  resume(up);
}

// Told, and tried again: what can't be read now may be mended.
void engine::stay_asleep(nap const& which, error const& why) {
  auto const id = which.place.id;
  alert_row told;
  told.saga = id;
  told.kind = "unreadable";
  told.level = alert_level::page;
  told.text = "the saga rested and can't be read, so it does not go on: " + why.message;
  told.raised_at = ports_.clock.now();
  raise(told);
  auto* const lies = resting_.find(id);
  lies->life = ++lives_;
  lies->waking = false;
  lies->wake_at = ports_.clock.now() + unreadable_pause;
  set_to_wake(*lies);
  auto const asked = waking_.extract(id);
  for (auto const& then : asked.mapped()) then(&why);
}

// Their shards go to another. Whoever asked for one looks again, and finds it elsewhere.
void engine::forget_resting(std::set<shard> const& shards) {
  std::vector<saga_id> gone;
  resting_.each([&](bed const& one) {
    if (shards.contains(one.home)) gone.push_back(one.id);
  });
  std::vector<woken> asked;
  waits waiting;
  for (auto const id : gone) {
    resting_.erase(id);
    if (auto by = waking_.extract(id)) std::move(by.mapped().begin(), by.mapped().end(), std::back_inserter(asked));
    if (auto by = resting_waits_.extract(id)) std::move(by.mapped().begin(), by.mapped().end(), std::back_inserter(waiting));
  }
  for (auto const& then : asked) ports_.turns.defer([then] { then(nullptr); });
  for (auto const& [number, then] : waiting) then(std::optional<saga_view>{});
}

}  // namespace atone::runtime
