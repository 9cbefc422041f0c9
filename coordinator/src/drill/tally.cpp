#include "drill/tally.hpp"

namespace atone::drill {
namespace {

void count_status(saga_status status, ledger_sums& into) {
  switch (status) {
    case saga_status::completed: ++into.completed; return;
    case saga_status::compensated: ++into.compensated; return;
    case saga_status::parked: ++into.parked; return;
    default: ++into.open; return;
  }
}

}  // namespace

settled_stretch settled_since(std::vector<ledger_row> const& ledger, std::vector<std::size_t> const& settled, std::size_t from) {
  settled_stretch made;
  for (std::size_t at = from; at < settled.size(); ++at) {
    auto const& row = ledger.at(settled[at]);
    made.sagas.insert(row.id);
    for (auto const& step : row.fell_back) ++made.fell_back[step];
  }
  return made;
}

ledger_sums add_up(std::vector<ledger_row> const& ledger) {
  ledger_sums sums;
  for (auto const& row : ledger) {
    if (!row.accepted()) {
      ++sums.unanswered;
      continue;
    }
    ++sums.accepted;
    sums.fell_back += row.fell_back.empty() ? 0 : 1;
    if (!row.missing) {
      count_status(row.status, sums);
      continue;
    }
    ++sums.missing;
    if (sums.missing_ids.size() < drill_report::ids_max) sums.missing_ids.push_back(row.id.text());
  }
  return sums;
}

void add_doubled(std::vector<ledger_row> const& ledger, std::vector<held_key> const& stored, ledger_sums& into) {
  std::map<std::string, std::set<saga_id>> sagas_of;
  std::map<saga_id, std::set<std::string>> keys_of;
  auto const note = [&](std::string const& key, saga_id const& id) {
    sagas_of[key].insert(id);
    keys_of[id].insert(key);
  };
  for (auto const& row : ledger) {
    if (row.accepted()) note(row.key, row.id);
  }
  for (auto const& each : stored) note(each.key, each.id);
  auto const tell = [&](std::string text) {
    ++into.doubled;
    if (into.doubled_keys.size() < drill_report::ids_max) into.doubled_keys.push_back(std::move(text));
  };
  for (auto const& [key, sagas] : sagas_of) {
    auto text = "key " + key + " has the sagas";
    for (auto const& id : sagas) text += ' ' + id.text();
    if (sagas.size() > 1) tell(std::move(text));
  }
  for (auto const& [id, keys] : keys_of) {
    auto text = "saga " + id.text() + " has the keys";
    for (auto const& key : keys) text += ' ' + key;
    if (keys.size() > 1) tell(std::move(text));
  }
}

}  // namespace atone::drill
