// Semantic locks: of the sagas whose `lock` has one value, one runs at a time, and the others wait in the order of their starts.
//
// Sagas of one lock live in one shard, so whoever drives the shard sees all of them; no other node is asked. The journal keeps what decides
// (lock_granted, and the end), the queue is made anew from it wherever the shard comes to. A saga has one lock, taken before its first
// step: nobody who has one waits for another, so there is no deadlock. It is passed on only when the end of who had it is durable.
#include <algorithm>
#include <utility>

#include "instance.hpp"
#include "planted.hpp"

namespace atone::runtime {

// Stands in the queue, at the place of its start; harmless when it stands there already.
void engine::want_lock(instance& of) {
  if (of.foreign && !planted(planted_bug::foreign_goes_on)) return;  // whoever drives it asks
  of.lock = of.machine.lock();
  locks_[of.lock].waiting.emplace(of.row.started_at, of.row.id);
  grant_soon(of.lock);
}

// A saga that comes from the store with its lock. The grant names it, so that one whose history can't be replayed keeps it too: what it
// has done is not undone.
void engine::has_lock_still(instance& of, std::vector<event> const& history) {
  if (is_final(of.row.status) || planted(planted_bug::forget_locks_at_take_over)) return;
  auto const granted = std::find_if(history.begin(), history.end(), [](event const& one) { return one.kind == event_kind::lock_granted; });
  if (granted == history.end()) return;
  of.lock = granted->text;
  locks_[of.lock].holder = of.row.id;
}

// It is being dropped: it has ended, or goes to another node with all that wait for its lock.
void engine::leave_lock(instance const& of) {
  if (of.lock.empty()) return;
  auto const found = locks_.find(of.lock);
  if (found == locks_.end()) return;
  auto& queue = found->second;
  if (queue.holder == of.row.id) queue.holder.reset();
  queue.waiting.erase({of.row.started_at, of.row.id});
  if (!queue.waiting.empty()) return grant_soon(of.lock);
  if (!queue.holder) locks_.erase(found);
}

// It can't go on here: it waits for nothing any more. What it has, it keeps.
void engine::leave_queue(instance const& of) {
  auto const found = locks_.find(of.lock);
  if (found == locks_.end()) return;
  found->second.waiting.erase({of.row.started_at, of.row.id});
  grant_soon(of.lock);
}

// In a turn of its own: by then whoever comes from the store in this one is there.
void engine::grant_soon(std::string const& lock) {
  to_grant_.insert(lock);
  if (std::exchange(grants_scheduled_, true)) return;
  ports_.turns.defer([this] { grant_some(); });
}

void engine::grant_some() {
  grants_scheduled_ = false;
  for (std::size_t at = 0; at < settings_.timers_a_turn && !to_grant_.empty(); ++at) {
    auto const lock = to_grant_.extract(to_grant_.begin()).value();
    grant(lock);
  }
  if (to_grant_.empty() || std::exchange(grants_scheduled_, true)) return;
  ports_.turns.defer([this] { grant_some(); });
}

void engine::grant(std::string const& lock) {
  auto const found = locks_.find(lock);
  if (found == locks_.end() || !driving_ || stopping_) return;
  auto& queue = found->second;
  bool const taken = queue.holder.has_value() && !planted(planted_bug::lock_for_everybody);
  while (!taken && !queue.waiting.empty()) {
    auto const next = *queue.waiting.begin();
    auto* const of = find(next.second);
    ATONE_ASSERT(of != nullptr);  // it leaves the queue when it is dropped
    // Its shard is on its way out, or not all of it is here yet: who has the lock may come with the rest (hold, keep). It is the others'
    // shard too.
    if (planted(planted_bug::grant_while_loading) ? leaving(*of) : !holds(of->row.home)) return;
    if (of->reloading) return;  // it asks again once it has been read
    cap_gathering();            // now, so that the event is in the batch that is asked for here
    // On its way to the store: it may lose its key there, and nothing but what went with its start would be taken back.
    if (of->starting && of->batch != gathering_->number) return;
    queue.waiting.erase(queue.waiting.begin());
    event granted;
    granted.kind = event_kind::lock_granted;
    granted.cause = of->machine.last();
    granted.text = lock;
    queue.holder = next.second;  // before its commands are gathered
    if (deliver(*of, granted)) return;
    queue.holder.reset();  // paused, parked or cancelled meanwhile: it asks again when it goes on
  }
  if (!queue.holder && queue.waiting.empty()) locks_.erase(found);
}

// Of shards that are whole now, or stay after all.
void engine::grant_all() {
  for (auto const& [lock, queue] : locks_) {
    if (!queue.holder && !queue.waiting.empty()) grant_soon(lock);
  }
}

}  // namespace atone::runtime
