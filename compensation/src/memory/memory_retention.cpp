// Deleting in the memory store: what is gone is gone from every map at once, under the lock.
#include <algorithm>
#include <iterator>

#include "common/batch_check.hpp"
#include "memory/memory_state.hpp"

namespace atone::memory {

bool state::is_over(saga_row const& row, timestamp ended_before) {
  return is_final(row.status) && row.ended_at && *row.ended_at < ended_before;
}

deletion_record state::deletions() {
  std::lock_guard const guard{lock_};
  return deleted_;
}

finished_stretch state::look(saga_id after, duration age, std::size_t most) {
  std::lock_guard const guard{lock_};
  finished_stretch found;
  found.now = clock_();
  found.last = after;
  auto const ended_before = found.now - age;
  auto const end = first_id_at(ended_before);
  auto at = sagas_.upper_bound(after);
  for (std::size_t left = retention::look_max; left > 0 && found.sagas.size() < most; --left, ++at) {
    if (at == sagas_.end() || !(at->first < end)) return found;
    found.last = at->first;
    auto const& row = at->second.row;
    if (!is_over(row, ended_before)) {
      found.kept = true;
      continue;
    }
    finished_saga one;
    one.id = row.id;
    one.definition = row.definition.name;
    one.key = row.key;
    one.ended_at = *row.ended_at;
    found.sagas.push_back(std::move(one));
  }
  found.more = true;
  return found;
}

result<std::uint64_t> state::remove(epoch writer, std::vector<finished_saga> const& sagas, duration age) {
  ATONE_ASSERT(sagas.size() <= retention::batch_max);
  std::lock_guard const guard{lock_};
  if (writer.value() == 0 || writer != current_) return fenced_at(writer, current_);
  auto const ended_before = clock_() - age;
  std::vector<saga_id> gone;
  for (auto const& one : sagas) {
    auto const at = sagas_.find(one.id);
    if (at == sagas_.end() || !is_over(at->second.row, ended_before)) continue;
    gone.push_back(one.id);
    erase(at);
  }
  erase_alerts(gone);
  deleted_.sagas += gone.size();
  return gone.size();
}

void state::erase(std::map<saga_id, stored_saga>::iterator which) {
  auto const& row = which->second.row;
  if (!row.key.value().empty()) {
    kept_key kept;
    kept.saga_name = row.definition.name;
    kept.key = row.key.value();
    kept.ended_at = *row.ended_at;
    kept_keys_.emplace(row.id, std::move(kept));
  }
  deleted_.newest = std::max(deleted_.newest.value_or(row.id), row.id);
  sagas_.erase(which);
}

void state::erase_alerts(std::vector<saga_id> const& of) {
  if (of.empty()) return;
  std::erase_if(alerts_, [&](alert_row const& one) { return std::find(of.begin(), of.end(), one.saga) != of.end(); });
  alert_places_.clear();
  for (std::size_t place = 0; place < alerts_.size(); ++place) {
    alert_places_.emplace(alert_name{alerts_[place].saga, alerts_[place].step.text(), alerts_[place].kind}, place);
  }
}

result<key_stretch> state::expire_keys(epoch writer, saga_id after, duration age, std::size_t most) {
  std::lock_guard const guard{lock_};
  if (writer.value() == 0 || writer != current_) return fenced_at(writer, current_);
  auto const ended_before = clock_() - age;
  auto const end = first_id_at(ended_before);
  key_stretch found;
  found.last = after;
  auto at = kept_keys_.upper_bound(after);
  for (std::size_t left = retention::look_max; left > 0 && found.deleted < most; --left) {
    if (at == kept_keys_.end() || !(at->first < end)) return found;
    found.last = at->first;
    if (at->second.ended_at >= ended_before) {
      found.kept = true;
      ++at;
      continue;
    }
    keys_.erase(key_name{at->second.saga_name, at->second.key});
    at = kept_keys_.erase(at);
    ++found.deleted;
  }
  found.more = at != kept_keys_.end() && at->first < end;
  return found;
}

}  // namespace atone::memory
