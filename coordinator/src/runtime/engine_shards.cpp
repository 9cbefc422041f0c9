// Shards that come and go: what a coordinator that is not alone on its store drives.
//
// A shard that goes is first left quiet: its sagas send nothing new, what is out is answered or given time, every event is durable.
// Only then its memory is dropped, and only after that does the store learn that the shard is another's. So no saga is ever driven by
// two, and the next owner finds in the journal all that was sent.
#include <algorithm>
#include <utility>

#include "instance.hpp"
#include "planted.hpp"

namespace atone::runtime {

void engine::adopt(std::vector<open_saga>&& sagas) {
  std::vector<saga_id> adopted;
  if (lost_) return;
  for (auto& one : sagas) {
    auto const id = one.row.id;
    if (rests(id)) continue;
    if (auto* const here = find(id); here != nullptr) {
      // Begun here for the shard's owner before, and the answer to that commit is not here yet: driven once it is (settle_starts).
      if (!here->foreign) continue;
      has_lock_still(*here, one.events);
      here->loaded = std::make_unique<open_saga>(std::move(one));
      continue;
    }
    recover(std::move(one));
    adopted.push_back(id);
  }
  if (!driving_) return;  // go() resumes them
  for (auto const id : adopted) resume(*find(id));
  if (!gathering_->empty()) schedule_flush();
}

void engine::lease_epochs(std::vector<shard> const& shards, std::vector<epoch> const& epochs) {
  ATONE_ASSERT(shards.size() == epochs.size());
  auto next = epochs.begin();
  for (auto const which : shards) epochs_.insert_or_assign(which, *next++);
}

void engine::hold(std::vector<shard> const& shards) {
  held_.insert(shards.begin(), shards.end());
  grant_all();
}

bool engine::leaving(instance const& of) const {
  return !leaving_.empty() && leaving_.contains(of.row.home);
}

void engine::leave(std::vector<shard> const& shards) {
  for (auto const one : shards) {
    held_.erase(one);
    leaving_.insert(one);
  }
}

// Ours to drive, now or once the answer to its start is here.
bool engine::ours(instance const& of) {
  return !of.foreign || of.loaded != nullptr || of.rests_there;
}

// Nothing of it is on its way to a participant either.
bool engine::quiet(instance const& of) const {
  return of.calls_out == 0 && (settled(of) || planted(planted_bug::let_go_unsettled));
}

// Nothing of it is on its way to the store.
bool engine::settled(instance const& of) const {
  return !of.starting && !of.reloading && !of.sql_in_flight && of.deferred.empty() && of.batch <= followed_;
}

std::vector<shard> engine::let_go(std::vector<shard> const& shards) {
  std::set<shard> going{shards.begin(), shards.end()};
  for (auto const& [id, of] : open_) {
    if (ours(*of) && !quiet(*of)) going.erase(of->row.home);
  }
  std::vector<saga_id> sagas;
  for (auto const& [id, of] : open_) {
    if (!of->foreign && going.contains(of->row.home)) sagas.push_back(id);
  }
  std::vector<std::pair<std::uint64_t, callback<std::optional<saga_view>>>> waiters;
  for (auto const id : sagas) {
    auto& waiting = find(id)->waiters;
    std::move(waiting.begin(), waiting.end(), std::back_inserter(waiters));
    drop(id);
  }
  std::set<saga_id> const gone{sagas.begin(), sagas.end()};
  auto const of_gone = [&](auto const& one) { return gone.contains(one.first); };
  std::erase_if(withheld_, of_gone);
  std::erase_if(suspects_, of_gone);
  std::erase_if(unserved_, of_gone);
  std::erase_if(suspects_out_, [&](call_in_lane const& one) { return gone.contains(one.saga); });
  next_suspects();
  for (auto const one : going) leaving_.erase(one);
  if (!going.empty()) {
    forget_resting(going);
    for (auto& [id, old] : arriving_) old = true;  // what is being read may be another's by the time it is here, and ours again
  }
  set_alarm();
  for (auto const& [number, then] : waiters) then(std::optional<saga_view>{});
  tell_quiet();
  return {going.begin(), going.end()};
}

void engine::give_up_requests(std::vector<shard> const& shards) {
  // All of a shard or nothing: what is given up here is the next owner's to send, so the shard must go in this turn.
  std::set<shard> going{shards.begin(), shards.end()};
  for (auto const& [id, of] : open_) {
    if (ours(*of) && (!of->locals_out.empty() || !settled(*of))) going.erase(of->row.home);
  }
  std::vector<std::pair<saga_id, call_command>> out;
  for (auto const& [id, of] : open_) {
    if (of->calls_out == 0 || !going.contains(of->row.home)) continue;
    for (auto& one : of->machine.outstanding()) {
      auto* const call = std::get_if<call_command>(&one);
      if (call != nullptr && std::holds_alternative<http_request_spec>(call->request)) out.emplace_back(id, std::move(*call));
    }
  }
  for (auto const& [id, call] : out) {
    if (ports_.calls.abandon(id, call.step, call.op) != given_up::out) --figures_.calls_in_flight;
  }
  for (auto const& [id, of] : open_) {
    if (going.contains(of->row.home)) of->calls_out = 0;  // an answer that comes all the same counts for nothing here
  }
}

void engine::keep(std::vector<shard> const& shards) {
  for (auto const one : shards) leaving_.erase(one);
  hold(shards);
  send_withheld([this](instance const& of) { return holds(of.row.home); });
  next_suspects();
}

void engine::lease_renewed() {
  if (!withheld_.empty()) send_withheld([this](instance const& of) { return !leaving(of); });
  if (!suspects_.empty()) next_suspects();
}

void engine::send_withheld(std::function<bool(instance const&)> const& which) {
  if (stopping_) return;
  for (auto& [id, call] : std::exchange(withheld_, {})) {
    auto* const of = find(id);
    if (of == nullptr || !of->machine.expects(call.step, call.op, call.n)) continue;
    if (!which(*of)) {
      withheld_.emplace_back(id, std::move(call));
    } else if (std::holds_alternative<sql_request_spec>(call.request)) {
      perform(id, call);
    } else {
      send_now(*of, call);
    }
  }
}

// A saga that another coordinator started for a shard that is driven here. Nothing of it has been sent yet: whoever drives it has taken
// the notice first, in the batch whose commands are its first calls.
void engine::arrive(std::uint64_t number, saga_id id) {
  if (auto const* const here = find(id); here != nullptr) {
    inbox_.erase(number);
    if (here->foreign) return;  // begun here, and dropped once that is told: the next look brings it in
    gathering_->rows.taken.push_back(number);
    return schedule_flush();
  }
  if (rests(id)) {
    inbox_.erase(number);
    gathering_->rows.taken.push_back(number);
    return schedule_flush();
  }
  arriving_[id] = false;
  ports_.lookup.reload(id, [this, number, id](result<std::optional<open_saga>> found) {
    inbox_.erase(number);
    bool const old = arriving_[id] || under_way(id);  // the latter: loaded meanwhile, which the next look finds
    arriving_.erase(id);
    if (!driving_ || !found || old) return;  // it stays in the inbox for the next look
    bool const here = *found && holds((*found)->row.home);
    if (*found && !here) return;  // its shard has gone on meanwhile, and the notice with it
    if (*found && find_definition((*found)->row.definition.name, (*found)->row.definition.version) == nullptr) return;  // not read yet
    gathering_->rows.taken.push_back(number);
    schedule_flush();
    if (!*found || is_final((*found)->row.status)) return;
    bool const untouched = (*found)->events.size() == 1;
    recover(std::move(**found));
    auto& placed = *find(id);
    placed.untouched = untouched;
    resume(placed);
  });
}

}  // namespace atone::runtime
