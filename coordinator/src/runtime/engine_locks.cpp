// Semantic locks: of the sagas whose `lock` has one value, one runs at a time, and the others wait in the order of their starts.
//
// Sagas of one lock live in one shard, so whoever drives the shard sees all of them; no other node is asked. The journal keeps what decides
// (lock_granted, and the end), the queue is made anew from it wherever the shard comes to. A saga has one lock, taken before its first
// step: nobody who has one waits for another, so there is no deadlock. It is passed on only when the end of who had it is durable.
#include <utility>

#include "instance.hpp"
#include "planted.hpp"

namespace atone::runtime {

// Stands in the queue, at the place of its start; harmless when it stands there already.
void engine::want_lock(instance const& of) {
  if (of.foreign && !planted(planted_bug::foreign_goes_on)) return;  // whoever drives it asks
  auto const& lock = of.machine.lock();
  locks_[lock].waiting.emplace(of.row.started_at, of.row.id);
  grant_soon(lock);
}

// A saga that comes from the store with its lock.
void engine::has_lock_still(instance const& of) {
  if (!of.machine.has_lock() || is_final(of.row.status) || planted(planted_bug::forget_locks_at_take_over)) return;
  locks_[of.machine.lock()].holder = of.row.id;
}

// It is being dropped: it has ended, or goes to another node with all that wait for its lock.
void engine::leave_lock(instance const& of) {
  auto const& lock = of.machine.lock();
  if (lock.empty()) return;
  auto const found = locks_.find(lock);
  if (found == locks_.end()) return;
  auto& queue = found->second;
  queue.waiting.erase({of.row.started_at, of.row.id});
  if (queue.holder == of.row.id) queue.holder.reset();
  if (!queue.waiting.empty()) return grant_soon(lock);
  if (!queue.holder) locks_.erase(found);
}

// In a turn of its own: by then whoever comes from the store in this one is there.
void engine::grant_soon(std::string const& lock) {
  ports_.turns.defer([this, lock] { grant(lock); });
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
    if (leaving(*of)) return;     // and so do the others: they live in one shard
    if (of->reloading) return;    // it asks again once it has been read
    cap_gathering();              // now, so that the event is in the batch that is asked for here
    // On its way to the store: it may lose its key there, and nothing but what went with its start would be taken back.
    if (of->starting && of->batch != gathering_->number) return;
    queue.waiting.erase(queue.waiting.begin());
    event granted;
    granted.kind = event_kind::lock_granted;
    granted.cause = of->machine.last();
    queue.holder = next.second;  // before its commands are gathered
    if (deliver(*of, granted)) return;
    queue.holder.reset();  // paused, parked or cancelled meanwhile: it asks again when it goes on
  }
  if (!queue.holder && queue.waiting.empty()) locks_.erase(found);
}

void engine::grant_all() {
  for (auto const& [lock, queue] : locks_) {
    if (!queue.holder && !queue.waiting.empty()) grant_soon(lock);
  }
}

}  // namespace atone::runtime
