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
constexpr duration no_room_pause = std::chrono::milliseconds{100};
constexpr std::size_t reads_ahead = 2;  // of wakes_a_read, taken off the queue of those that are due

}  // namespace

// What the row is to say as of the newest event.
std::optional<timestamp> engine::wake_of(instance const& of) const {
  if (planted(planted_bug::keep_wake_at) && of.row.wake_at) return of.row.wake_at;
  auto const until = of.machine.rests_until();
  bool const long_enough = until && *until - ports_.clock.now() >= settings_.rest_least;
  return long_enough ? until : std::nullopt;
}

// When the batch that gathers has left.
void engine::rest_soon(instance const& of) {
  if (of.row.wake_at) gathering_->rest.push_back(of.row.id);
}

void engine::try_rest(saga_id id) {
  auto* const of = find(id);
  if (of == nullptr || !driving_ || stopping_) return;
  bool const own = !of->foreign && of->broken.empty();
  if (!own || !of->row.wake_at || !quiet(*of)) return;
  auto const left = *of->row.wake_at - ports_.clock.now();
  if (left <= duration{0} || left < settings_.rest_least) return;  // it has just been woken for that
  resting_saga const made{of->row};
  if (!of->waiters.empty()) resting_waits_.emplace(id, std::move(of->waiters));
  drop(id);
  lay_down(made);
}

void engine::lay_down(resting_saga const& of) {
  resting_.insert_or_assign(of.place.id, bed{of.wake_at, ++lives_, of.place.home, of.parked});
  if (of.wake_at != wakes_never && !planted(planted_bug::sleep_for_ever)) wakes_.emplace(of.wake_at, of.place.id);
}

void engine::adopt(std::vector<resting_saga> const& sagas) {
  if (lost_) return;
  for (auto const& one : sagas) {
    if (rests(one.place.id)) continue;
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
  auto const at = resting_.find(id);
  ATONE_ASSERT(at != resting_.end());
  if (!waking_.try_emplace(id).second) return;
  auto const& lies = at->second;
  wakes_.erase({lies.wake_at, id});
  to_wake_.push_back(nap{saga_place{lies.home, id}, lies.life, false});
}

bool engine::room_to_wake() const noexcept {
  return open_.size() + waking_.size() < settings_.open_max;
}

std::optional<timestamp> engine::next_wake() const {
  if (wakes_.empty() || to_wake_.size() >= settings_.wakes_a_read * reads_ahead) return std::nullopt;  // the end of a read goes on
  auto const first = wakes_.begin()->first;
  return room_to_wake() ? first : std::max(first, ports_.clock.now() + no_room_pause);
}

void engine::wake_due() {
  auto const now = ports_.clock.now();
  while (!wakes_.empty() && wakes_.begin()->first <= now && room_to_wake() && to_wake_.size() < settings_.wakes_a_read * reads_ahead) {
    auto const id = wakes_.begin()->second;
    auto& lies = resting_.at(id);
    if (leaving_.contains(lies.home)) {  // its next owner's, most likely
      wakes_.erase(wakes_.begin());
      lies.wake_at = now + leaving_timer_pause;
      wakes_.emplace(lies.wake_at, id);
      continue;
    }
    queue_waking(id);
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
    auto const lies = resting_.find(next.place.id);
    if (lies == resting_.end() || lies->second.life != next.life) continue;  // gone with its shard
    which.push_back(next);
    if (next.alone) break;
  }
  if (which.empty()) return;
  std::vector<saga_place> places;
  for (auto const& one : which) places.push_back(one.place);
  reading_waking_ = true;
  ports_.lookup.load(std::move(places), [this, which = std::move(which)](result<std::vector<open_saga>> found) {
    reading_waking_ = false;
    if (!driving_) return;
    awake(which, std::move(found));
    wake_due();
    set_alarm();
  });
}

void engine::awake(std::vector<nap> const& which, result<std::vector<open_saga>> found) {
  for (auto const& one : which) {
    auto const id = one.place.id;
    auto const lies = resting_.find(id);
    if (lies == resting_.end() || lies->second.life != one.life) continue;  // gone meanwhile, and who asked was told
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
  resting_.erase(id);
  recover(std::move(of));
  auto& up = *find(id);
  if (auto waiting = resting_waits_.extract(id)) up.waiters = std::move(waiting.mapped());
  resume(up);
  rest_soon(up);  // where nothing comes of it
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
  auto& lies = resting_.at(id);
  lies.life = ++lives_;
  lies.wake_at = ports_.clock.now() + unreadable_pause;
  wakes_.emplace(lies.wake_at, id);
  auto const asked = waking_.extract(id);
  for (auto const& then : asked.mapped()) then(&why);
}

// Their shards go to another. Whoever asked for one looks again, and finds it elsewhere.
void engine::forget_resting(std::set<shard> const& shards) {
  std::vector<woken> asked;
  waits waiting;
  for (auto at = resting_.begin(); at != resting_.end();) {
    auto const& [id, lies] = *at;
    if (!shards.contains(lies.home)) {
      ++at;
      continue;
    }
    wakes_.erase({lies.wake_at, id});
    if (auto const by = waking_.find(id); by != waking_.end()) {
      std::move(by->second.begin(), by->second.end(), std::back_inserter(asked));
      waking_.erase(by);
    }
    if (auto by = resting_waits_.extract(id)) std::move(by.mapped().begin(), by.mapped().end(), std::back_inserter(waiting));
    at = resting_.erase(at);
  }
  for (auto const& then : asked) ports_.turns.defer([then] { then(nullptr); });
  for (auto const& [number, then] : waiting) then(std::optional<saga_view>{});
}

}  // namespace atone::runtime
