// What a drill remembers of every saga it has begun.
// Thread rules: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <atone/ids.hpp>
#include <atone/records.hpp>
#include <atone/time.hpp>

namespace atone::drill {

// One saga of the drill.
struct ledger_row {
  std::string key;
  saga_id id;               // empty: its start was not answered (yet)
  std::uint32_t sends = 0;  // of its start
  saga_status status = saga_status::running;
  duration settled_at{};  // since the load began; 0: it has neither ended nor been parked
  bool missing = false;   // accepted, and now unknown
  std::vector<std::string> fell_back;

  ledger_row() = default;
  bool accepted() const noexcept { return !id.empty(); }
};

// A saga as the store has it: who holds which key.
struct held_key {
  std::string key;
  saga_id id;

  held_key() = default;
};

}  // namespace atone::drill
