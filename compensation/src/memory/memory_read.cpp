// The reading half of the memory store: plain scans, since it holds what a test or an example makes.
#include <algorithm>
#include <tuple>

#include "memory/memory_state.hpp"

namespace atone::memory {
namespace {

// A map may hold an entry for a saga whose start was never written (an action that was refused): not a saga.
bool exists(stored_saga const& saga) {
  return !saga.row.id.empty();
}

bool matches(saga_row const& row, saga_filter const& filter) {
  if (!filter.definition.empty() && row.definition.name != filter.definition) return false;
  if (filter.status && row.status != *filter.status) return false;
  if (!row.key.value().starts_with(filter.key_prefix)) return false;
  if (filter.since && row.started_at < *filter.since) return false;
  return !filter.before || row.id < *filter.before;
}

template <class Key, class Value>
std::vector<Value> values_of(std::map<Key, Value> const& from) {
  std::vector<Value> values;
  values.reserve(from.size());
  for (auto const& [key, value] : from) values.push_back(value);
  return values;
}

}  // namespace

std::vector<open_saga> state::open_after(saga_id after, std::size_t limit) {
  std::lock_guard const guard{lock_};
  std::vector<open_saga> found;
  for (auto at = sagas_.upper_bound(after); at != sagas_.end() && found.size() < limit; ++at) {
    stored_saga const& saga = at->second;
    if (!exists(saga) || is_final(saga.row.status)) continue;
    open_saga& one = found.emplace_back();
    one.row = saga.row;
    if (one.row.wake_at) continue;  // it rests
    one.events = values_of(saga.events);
    one.compensations = values_of(saga.compensations);
  }
  return found;
}

std::optional<saga_row> state::find(saga_id id) {
  std::lock_guard const guard{lock_};
  auto const at = sagas_.find(id);
  if (at == sagas_.end() || !exists(at->second)) return std::nullopt;
  return at->second.row;
}

std::optional<saga_row> state::find_by_key(std::string_view saga_name, business_key const& key) {
  std::lock_guard const guard{lock_};
  auto const claim = keys_.find(key_name{std::string{saga_name}, key.value()});
  if (claim == keys_.end()) return std::nullopt;
  auto const holder = sagas_.find(claim->second.holder);
  return holder == sagas_.end() ? std::nullopt : std::optional{holder->second.row};
}

std::optional<key_claim> state::claim_of(std::string_view saga_name, business_key const& key) {
  std::lock_guard const guard{lock_};
  auto const claim = keys_.find(key_name{std::string{saga_name}, key.value()});
  return claim == keys_.end() ? std::nullopt : std::optional{claim->second};
}

std::vector<saga_row> state::list(saga_filter const& filter) {
  auto const limit = std::min(filter.limit, saga_filter::page_max);
  std::lock_guard const guard{lock_};
  std::vector<saga_row> page;
  for (auto at = sagas_.rbegin(); at != sagas_.rend() && page.size() < limit; ++at) {
    if (exists(at->second) && matches(at->second.row, filter)) page.push_back(at->second.row);
  }
  return page;
}

std::vector<event> state::history(saga_id id) {
  std::lock_guard const guard{lock_};
  auto const at = sagas_.find(id);
  return at == sagas_.end() ? std::vector<event>{} : values_of(at->second.events);
}

std::vector<compensation_entry> state::compensations(saga_id id) {
  std::lock_guard const guard{lock_};
  auto const at = sagas_.find(id);
  return at == sagas_.end() ? std::vector<compensation_entry>{} : values_of(at->second.compensations);
}

std::vector<operator_action_row> state::actions(saga_id id) {
  std::lock_guard const guard{lock_};
  auto const at = sagas_.find(id);
  return at == sagas_.end() ? std::vector<operator_action_row>{} : at->second.actions;
}

std::vector<alert_row> state::alerts(std::uint32_t limit) {
  std::lock_guard const guard{lock_};
  auto const newest_first = [](alert_row const& left, alert_row const& right) {
    if (left.raised_at != right.raised_at) return left.raised_at > right.raised_at;
    if (left.saga != right.saga) return left.saga > right.saga;
    return std::tie(left.step, left.kind) < std::tie(right.step, right.kind);
  };
  auto found = alerts_;
  std::sort(found.begin(), found.end(), newest_first);
  auto const bounded = std::min(limit, saga_filter::page_max);
  if (found.size() > bounded) found.resize(bounded);
  return found;
}

std::optional<definition_row> state::definition(std::string_view name, std::optional<definition_version> version) {
  std::lock_guard const guard{lock_};
  std::optional<definition_row> newest;
  for (auto const& [key, row] : definitions_) {
    if (key.first != name || (version && key.second != *version)) continue;
    newest = row;  // keys rise by version
  }
  return newest;
}

std::vector<definition_row> state::definitions() {
  std::lock_guard const guard{lock_};
  return values_of(definitions_);
}

std::optional<last_output_row> state::last_output(std::string_view saga_name, step_path const& step, std::string_view key) {
  std::lock_guard const guard{lock_};
  auto const at = outputs_.find(output_name{std::string{saga_name}, step.text(), std::string{key}});
  if (at == outputs_.end()) return std::nullopt;
  return at->second;
}

std::map<saga_status, std::uint64_t> state::counts() {
  std::lock_guard const guard{lock_};
  std::map<saga_status, std::uint64_t> found;
  for (auto const& [id, saga] : sagas_) {
    if (exists(saga)) ++found[saga.row.status];
  }
  return found;
}

}  // namespace atone::memory
