// The writing half of the memory store. A batch is checked whole before anything is applied, so that applying can't fail.
#include <algorithm>
#include <set>
#include <unordered_set>

#include "common/batch_check.hpp"
#include "memory/memory_state.hpp"

namespace atone::memory {
namespace {

error twice(std::string what) {
  return error{errc::bad_data, std::move(what) + " is already in the journal"};
}

}  // namespace

epoch state::take_over() {
  std::lock_guard const guard{lock_};
  current_ = epoch{current_.value() + 1};
  last_number_ = batch_number{};
  last_report_ = commit_report{};
  return current_;
}

result<commit_report> state::commit(epoch writer, journal_batch const& batch, batch_number number) {
  if (auto const fine = check_batch(batch); !fine) return fine.error();
  std::lock_guard const guard{lock_};
  if (writer.value() == 0 || writer != current_) return fenced_at(writer, current_);
  if (number == last_number_ && number.value() != 0) return last_report_;
  if (number.value() != last_number_.value() + 1) return wrong_batch_number(number, last_number_);
  commit_report report;
  report.losers = find_losers(batch);
  std::unordered_set<saga_id> refused;
  for (auto const& loser : report.losers) refused.insert(loser.refused);
  // Losers are rare: only then is the batch copied.
  journal_batch kept;
  if (!refused.empty()) kept = part_of(batch, [&](saga_id id) { return !refused.contains(id); });
  journal_batch const& taken = refused.empty() ? batch : kept;
  if (auto const fine = check(taken); !fine) return fine.error();
  apply(taken);
  report.database_time = clock_();
  last_number_ = number;
  last_report_ = report;
  return report;
}

std::vector<start_loser> state::find_losers(journal_batch const& batch) const {
  std::vector<start_loser> losers;
  std::map<key_name, key_claim> claimed_here;
  for (auto const& start : batch.starts) {
    if (start.row.key.value().empty()) continue;
    key_claim claim;
    claim.holder = start.row.id;
    claim.body = start.body;
    key_name const name{start.row.definition.name, start.row.key.value()};
    auto const stored = keys_.find(name);
    auto const [here, first] = claimed_here.emplace(name, claim);
    if (first && stored == keys_.end()) continue;
    key_claim const& holder = stored != keys_.end() ? stored->second : here->second;
    if (holder.holder == start.row.id) continue;  // its own claim: check() tells that it was started before
    start_loser loser;
    loser.refused = start.row.id;
    loser.existing = holder.holder;
    loser.body = holder.body;
    losers.push_back(loser);
  }
  return losers;
}

result<void> state::check(journal_batch const& batch) const {
  std::unordered_set<saga_id> started;
  for (auto const& start : batch.starts) {
    if (sagas_.contains(start.row.id) || !started.insert(start.row.id).second) return twice("saga " + start.row.id.text());
  }
  std::set<std::pair<saga_id, sequence>> written;
  for (auto const& record : batch.records) {
    auto const known = sagas_.find(record.saga);
    bool const stored = known != sagas_.end() && known->second.events.contains(record.event.seq);
    if (stored || !written.emplace(record.saga, record.event.seq).second) {
      return twice("event " + std::to_string(record.event.seq.value()) + " of saga " + record.saga.text());
    }
  }
  for (auto const& change : batch.changes) {
    if (!sagas_.contains(change.row.id) && !started.contains(change.row.id)) {
      return error{errc::bad_data, "a change of saga " + change.row.id.text() + ", which was never started"};
    }
  }
  return {};
}

void state::apply(journal_batch const& batch) {
  for (auto const& start : batch.starts) apply_start(start);
  for (auto const& record : batch.records) sagas_[record.saga].events.emplace(record.event.seq, record.event);
  for (auto const& change : batch.changes) apply_change(change.row);
  for (auto const& entry : batch.compensations) apply_compensation(entry);
  for (auto const& alert : batch.alerts) apply_alert(alert);
  for (auto const& output : batch.outputs) outputs_[{output.saga_name, output.step.text(), output.key}] = output;
  for (auto const& action : batch.actions) sagas_[action.saga].actions.push_back(action);
}

void state::apply_start(saga_start const& start) {
  sagas_[start.row.id].row = start.row;
  if (start.row.key.value().empty()) return;
  key_claim claim;
  claim.holder = start.row.id;
  claim.body = start.body;
  bool const claimed = keys_.emplace(key_name{start.row.definition.name, start.row.key.value()}, claim).second;
  ATONE_ASSERT(claimed);  // losers have left the batch
}

void state::apply_change(saga_row const& row) {
  auto const known = sagas_.find(row.id);
  ATONE_ASSERT(known != sagas_.end());
  saga_row& stored = known->second.row;
  stored.status = row.status;
  stored.updated_at = row.updated_at;
  stored.ended_at = row.ended_at;
  stored.cause = row.cause;
  stored.output = row.output;
  stored.crashes = row.crashes;
  stored.last = row.last;
  stored.wake_at = row.wake_at;
}

void state::apply_compensation(compensation_entry const& entry) {
  auto const [at, first] = sagas_[entry.saga].compensations.emplace(entry.trace, entry);
  if (first || at->second.status == compensation_status::success) return;
  at->second.status = entry.status;
  at->second.attempts = entry.attempts;
  at->second.last_error = entry.last_error;
  at->second.updated_at = entry.updated_at;
}

void state::apply_alert(alert_row const& alert) {
  alert_name const name{alert.saga, alert.step.text(), alert.kind};
  auto const [at, first] = alert_places_.emplace(name, alerts_.size());
  if (first) {
    alerts_.push_back(alert);
  } else {
    alerts_[at->second] = alert;
  }
}

result<void> state::publish(definition_row const& row) {
  std::lock_guard const guard{lock_};
  auto const [at, first] = definitions_.emplace(definition_name{row.ref.name, row.ref.version}, row);
  if (first || at->second.ref.hash == row.ref.hash) return {};
  return already_published(row.ref);
}

}  // namespace atone::memory
