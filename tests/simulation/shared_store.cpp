#include "shared_store.hpp"

#include <algorithm>
#include <set>

#include "planted.hpp"

namespace atone::simulation {
namespace {

std::string const refusal = "start refused: ";  // an alert's kind, before the request's number

error fenced(epoch under) {
  return error{errc::fenced, "epoch " + std::to_string(under.value()) + " is fenced"};
}

// The batch without those sagas: their starts lost their keys.
journal_batch without(journal_batch const& from, std::unordered_set<saga_id> const& gone) {
  auto kept = from;
  kept.foreign.clear();
  std::erase_if(kept.starts, [&](auto const& one) { return gone.contains(one.row.id); });
  std::erase_if(kept.records, [&](auto const& one) { return gone.contains(one.saga); });
  std::erase_if(kept.changes, [&](auto const& one) { return gone.contains(one.row.id); });
  std::erase_if(kept.compensations, [&](auto const& one) { return gone.contains(one.saga); });
  std::erase_if(kept.alerts, [&](auto const& one) { return gone.contains(one.saga); });
  std::erase_if(kept.outputs, [&](auto const& one) { return gone.contains(one.written_by); });
  std::erase_if(kept.actions, [&](auto const& one) { return gone.contains(one.saga); });
  kept.foreign = from.foreign;
  return kept;
}

}  // namespace

std::pair<writer_number, epoch> shared_store::take_over(node_id const& node) {
  auto at = std::find_if(writers_.begin(), writers_.end(), [&](writer_row const& one) { return one.node == node; });
  if (at == writers_.end()) {
    writers_.emplace_back().node = node;
    at = writers_.end() - 1;
  }
  auto const number = writer_number{static_cast<std::uint16_t>(at - writers_.begin() + 1)};
  bool const reused = planted(planted_bug::reuse_epoch) && at->epoch.value() > 0;
  if (!reused) at->epoch = next_epoch();
  at->alive = true;
  at->progress = 0;
  at->last = batch_number{};
  at->report = commit_report{};
  told_.epoch_raised(number, at->epoch, true);
  for (std::size_t which = 0; which < leases_.size(); ++which) {
    if (leases_[which].writer != number) continue;
    leases_[which].epoch = at->epoch;
    told_.shard_moved(shard{static_cast<std::uint16_t>(which)}, number, at->epoch);
  }
  return {number, at->epoch};
}

result<commit_report> shared_store::commit(writer_number by, epoch under, journal_batch const& what, batch_number number, extent of) {
  auto& row = row_of(by);
  if (!current(by, under) && !planted(planted_bug::skip_fence)) return fenced(under);
  if (current(by, under)) {
    if (number == row.last && number.value() != 0 && !planted(planted_bug::repeat_batch)) return row.report;
    bool const in_turn = number.value() == row.last.value() + 1;
    if (!in_turn && !planted(planted_bug::repeat_batch)) return error{errc::invalid_argument, "batch number out of turn"};
  }
  commit_report report;
  report.losers = planted(planted_bug::key_not_unique) ? std::vector<start_loser>{} : find_losers(what);
  std::unordered_set<saga_id> lost;
  for (auto const& loser : report.losers) lost.insert(loser.refused);
  std::optional<journal_batch> kept;
  if (!lost.empty()) kept = without(what, lost);
  journal_batch const& taken = kept ? *kept : what;
  if (auto const fine = check(taken); !fine) return fine.error();
  apply(taken, of);
  report.database_time = now_();
  row.last = number;
  row.report = report;
  ++row.progress;
  told_.committed(by, under, taken, report.losers);
  return report;
}

std::vector<start_loser> shared_store::find_losers(journal_batch const& what) const {
  std::vector<start_loser> losers;
  std::map<key_name, claim_of_key> here;
  for (auto const& start : what.starts) {
    if (start.row.key.value().empty()) continue;
    key_name const name{start.row.definition.name, start.row.key.value()};
    claim_of_key claim;
    claim.holder = start.row.id;
    claim.body = start.body;
    auto const stored = keys_.find(name);
    auto const [known, first] = here.emplace(name, claim);
    if (first && stored == keys_.end()) continue;
    auto const& holder = stored != keys_.end() ? stored->second : known->second;
    start_loser loser;
    loser.refused = start.row.id;
    loser.existing = holder.holder;
    loser.body = holder.body;
    losers.push_back(loser);
  }
  return losers;
}

result<void> shared_store::check(journal_batch const& what) const {
  for (auto const& start : what.starts) {
    if (refuses(start.row.id)) return error{errc::bad_data, "this data is refused"};
    if (sagas_.contains(start.row.id)) return error{errc::bad_data, "the saga is there already"};
  }
  std::set<std::pair<saga_id, std::uint32_t>> written;
  std::set<saga_id> parked;
  for (auto const& record : what.records) {
    if (record.event.kind == event_kind::parked) parked.insert(record.saga);
    if (refuses(record.saga) && !parked.contains(record.saga)) return error{errc::bad_data, "this data is refused"};
    auto const known = sagas_.find(record.saga);
    bool const stored = known != sagas_.end() && record.event.seq.value() <= known->second.events.size();
    if (stored || !written.emplace(record.saga, record.event.seq.value()).second) {
      return error{errc::bad_data, "event " + std::to_string(record.event.seq.value()) + " is there already"};
    }
  }
  return {};
}

void shared_store::apply(journal_batch const& what, extent of) {
  for (auto const& start : what.starts) {
    sagas_[start.row.id].row = start.row;
    if (!start.row.key.value().empty()) {
      claim_of_key claim;
      claim.holder = start.row.id;
      claim.body = start.body;
      keys_.emplace(key_name{start.row.definition.name, start.row.key.value()}, claim);
    }
    bool const foreign = std::find(what.foreign.begin(), what.foreign.end(), start.row.home) != what.foreign.end();
    if (foreign && !planted(planted_bug::forget_notice)) {
      auto& notice = inbox_[++inbox_numbers_];
      notice.home = start.row.home;
      notice.arrived = start.row.id;
    }
  }
  for (auto const& record : what.records) {
    sagas_[record.saga].events.push_back(record.event);
    if (record.event.kind == event_kind::parked) rejected_.erase(record.saga);
  }
  for (auto const& change : what.changes) {
    auto& row = sagas_[change.row.id].row;
    row.status = change.row.status;
    row.updated_at = change.row.updated_at;
    row.ended_at = change.row.ended_at;
    row.cause = change.row.cause;
    row.output = change.row.output;
    row.crashes = change.row.crashes;
    row.last = change.row.last;
    row.wake_at = change.row.wake_at;
  }
  for (auto const& entry : what.compensations) {
    auto const [at, first] = sagas_[entry.saga].compensations.emplace(entry.trace, entry);
    if (!first && at->second.status != compensation_status::success) at->second = entry;
  }
  for (auto const& output : what.outputs) outputs_[output_name{output.saga_name, output.step.text(), output.key}] = output;
  for (auto const& action : what.actions) sagas_[action.saga].actions.push_back(action);
  for (auto const& alert : what.alerts) {
    if (alert.kind.starts_with(refusal) && !planted(planted_bug::forget_refusal)) refusals_.insert(alert.kind);
  }
  for (auto const number : what.taken) take_off(number, of);
}

// A request that can't be started goes with an alert, in one transaction. Where data was refused, requests go in a batch of their own, and
// the alert follows: whoever asked for the start looks for it (people).
void shared_store::take_off(std::uint64_t number, extent of) {
  auto const at = inbox_.find(number);
  if (at == inbox_.end()) return;
  auto const asked = at->second;
  inbox_.erase(at);
  if (asked.arrived || of == extent::part) return;
  bool const told = refusals_.contains(refusal + std::to_string(number));
  if (!told && !keys_.contains(key_name{asked.saga, asked.key})) told_.request_lost(asked.saga, asked.key);
}

std::vector<open_saga> shared_store::load_open(std::vector<shard> const& of) const {
  std::vector<bool> wanted(leases_.size());
  for (auto const one : of) wanted.at(one.value()) = true;
  std::vector<open_saga> found;
  for (auto const& [id, saga] : sagas_) {
    if (saga.row.id.empty() || is_final(saga.row.status) || !wanted[saga.row.home.value()]) continue;
    auto& one = found.emplace_back();
    one.row = saga.row;
    if (one.row.wake_at) continue;  // it rests
    one.events = saga.events;
    for (auto const& [trace, entry] : saga.compensations) one.compensations.push_back(entry);
  }
  return found;
}

void shared_store::move(shard which, std::optional<writer_number> to) {
  auto& one = leases_.at(which.value());
  one.writer = to;
  if (to && !planted(planted_bug::lease_keeps_epoch)) one.epoch = next_epoch();
  told_.shard_moved(which, to, one.epoch);
}

result<void> shared_store::hand_over(writer_number by, epoch under, std::vector<shard_move> const& moves) {
  if (!current(by, under)) return fenced(under);
  for (auto const& one : moves) {
    if (leases_.at(one.shard.value()).writer != by) continue;
    bool const there = one.to && row_of(*one.to).alive;
    move(one.shard, there ? one.to : std::nullopt);
  }
  return {};
}

std::vector<inbox_start> shared_store::take_inbox(std::vector<shard> const& of) const {
  std::vector<inbox_start> found;
  for (auto const& [number, here] : inbox_) {
    if (std::find(of.begin(), of.end(), here.home) == of.end()) continue;
    auto& one = found.emplace_back();
    one.number = number;
    one.arrived = here.arrived;
    one.saga_name = here.saga;
    one.key = business_key{here.key};
    one.input = here.input;
  }
  return found;
}

void shared_store::ask_start(shard waits_in, std::string saga, std::string key, std::string input) {
  auto& made = inbox_[++inbox_numbers_];
  requests_[key_name{saga, key}].push_back(inbox_numbers_);
  made.home = waits_in;
  made.saga = std::move(saga);
  made.key = std::move(key);
  made.input = std::move(input);
}

shared_store::request_state shared_store::state_of_request(std::string const& saga, std::string const& key) const {
  auto const& numbers = requests_.at(key_name{saga, key});
  if (std::any_of(numbers.begin(), numbers.end(), [&](auto const number) { return inbox_.contains(number); }))
    return request_state::waiting;
  bool const told =
      std::all_of(numbers.begin(), numbers.end(), [&](auto const number) { return refusals_.contains(refusal + std::to_string(number)); });
  return told ? request_state::refused : request_state::gone;
}

void shared_store::leave(writer_number by, epoch under) {
  if (!current(by, under) || planted(planted_bug::leave_keeps_shards)) return;
  row_of(by).alive = false;
  told_.epoch_raised(by, under, false);
}

result<roster> shared_store::renew(writer_number by, epoch under, duration for_time) {
  if (!current(by, under)) return fenced(under);
  row_of(by).lease = for_time;
  ++row_of(by).progress;
  roster seen;
  seen.self = by;
  for (std::size_t at = 0; at < writers_.size(); ++at) {
    auto const& row = writers_[at];
    auto& one = seen.members.emplace_back();
    one.number = writer_number{static_cast<std::uint16_t>(at + 1)};
    one.node = row.node;
    one.lease = row.lease;
    one.epoch = row.epoch;
    one.progress = row.progress;
    one.alive = row.alive;
  }
  for (std::size_t which = 0; which < leases_.size(); ++which) {
    auto const name = shard{static_cast<std::uint16_t>(which)};
    auto const& one = leases_[which];
    bool const held = one.writer && row_of(*one.writer).alive;
    if (!held) {
      seen.free.push_back(name);
      continue;
    }
    auto& holder = seen.members.at(one.writer->value() - 1U);
    holder.held.push_back(name);
    holder.epochs.push_back(one.epoch);
  }
  seen.database_time = now_();
  return seen;
}

bool shared_store::fence(member const& as_seen) {
  auto& row = row_of(as_seen.number);
  bool const as_it_was = row.epoch == as_seen.epoch && row.progress == as_seen.progress && row.alive;
  if (!as_it_was) return false;
  if (!planted(planted_bug::fence_keeps_epoch)) {
    row.epoch = next_epoch();
    row.alive = false;
  }
  told_.epoch_raised(as_seen.number, epoch{row.epoch.value()}, false);
  for (std::size_t which = 0; which < leases_.size(); ++which) {
    if (leases_[which].writer == as_seen.number) move(shard{static_cast<std::uint16_t>(which)}, std::nullopt);
  }
  return true;
}

result<std::vector<shard>> shared_store::claim(writer_number by, epoch under, std::size_t most) {
  if (!current(by, under)) return fenced(under);
  std::vector<shard> taken;
  for (std::size_t which = 0; which < leases_.size() && taken.size() < most; ++which) {
    auto const& one = leases_[which];
    if (one.writer && row_of(*one.writer).alive) continue;
    taken.emplace_back(static_cast<std::uint16_t>(which));
    move(taken.back(), by);
  }
  return taken;
}

stored_saga const* shared_store::find(saga_id id) const {
  auto const at = sagas_.find(id);
  return at == sagas_.end() || at->second.row.id.empty() ? nullptr : &at->second;
}

std::optional<saga_id> shared_store::holder(std::string const& saga_name, std::string const& key) const {
  auto const at = keys_.find(key_name{saga_name, key});
  if (at == keys_.end()) return std::nullopt;
  return at->second.holder;
}

std::optional<content_hash> shared_store::body_of(std::string const& saga_name, std::string const& key) const {
  auto const at = keys_.find(key_name{saga_name, key});
  if (at == keys_.end()) return std::nullopt;
  return at->second.body;
}

std::optional<last_output_row> shared_store::last_output(std::string const& saga_name, step_path const& step,
                                                         std::string const& key) const {
  auto const at = outputs_.find(output_name{saga_name, step.text(), key});
  if (at == outputs_.end()) return std::nullopt;
  return at->second;
}

}  // namespace atone::simulation
