// Sums over the load's ledger.
// Thread rules: pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "drill/ledger.hpp"
#include "drill/report.hpp"

namespace atone::drill {

// What was settled in one stretch of time.
struct settled_stretch {
  std::set<saga_id> sagas;
  std::map<std::string, std::uint64_t> fell_back;  // by step

  settled_stretch() = default;
};
// The rows settled from the `from`-th on, in the order of their settling.
settled_stretch settled_since(std::vector<ledger_row> const& ledger, std::vector<std::size_t> const& settled, std::size_t from);

ledger_sums add_up(std::vector<ledger_row> const& ledger);
// One saga a key and one key a saga: whatever the ledger and the store's list (all keys of the drill) say otherwise is added.
void add_doubled(std::vector<ledger_row> const& ledger, std::vector<held_key> const& stored, ledger_sums& into);

}  // namespace atone::drill
