// One open saga in memory, and the batch that gathers. Internal to the engine.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine.hpp"

namespace atone::runtime {

// Timers of sagas whose shard is on its way out are looked at again after this: they are the next owner's, most likely.
inline constexpr duration leaving_timer_pause = std::chrono::milliseconds{100};

struct engine::instance {
  saga_machine machine;
  saga_row row;                             // what was last gathered for the store
  std::optional<timestamp> wake_at;         // as of its newest event
  std::optional<resting_saga> rests_there;  // of one begun for another's shard that is ours now: as the store has it
  content_hash body;                        // of the start, while it is not committed
  engine::callback<started> on_started;
  timer_table::handles timers;
  engine::waits waiters;
  std::vector<compensation_entry> log;  // as found at take-over
  std::uint32_t crashes = 0;            // its local call was handed out again after a crash, so many times without an answer
  std::uint64_t batch = 0;              // the newest batch that holds an event of it
  std::uint32_t crashes_found = 0;      // of them, when this process took it over
  duration ahead{};      // its timers are due by so much sooner than the machine says: a clock was ahead when they were armed
  bool suspect = false;  // a local call of it was under way when the process before this one ended
  std::vector<std::pair<step_path, operation>> resent;      // calls that an earlier owner had sent: a refusal of them is not sure
  std::string broken;                                       // why its history can't be replayed; it stays parked
  std::string lock;                                         // that it has or waits for; empty: none
  bool starting = false;                                    // its start is not committed yet
  bool foreign = false;                                     // of a shard that another drives: begun here, and no more
  std::unique_ptr<open_saga> loaded;                        // of one begun for another's shard that is ours now: as the store has it
  bool untouched = false;                                   // begun elsewhere, and nothing of it was ever sent
  std::uint64_t life = 0;                                   // tells it from what stood under its id before its shard went and came back
  bool untold = false;                                      // that it is parked: nobody has heard of it yet
  std::uint32_t calls_out = 0;                              // requests of it that may still be answered
  std::vector<std::pair<step_path, operation>> locals_out;  // of them, those to local handlers
  bool reloading = false;                                   // its memory is ahead of what the store accepted: dropped and read again
  std::uint64_t parking = 0;                                // the batch that says it is parked since the store refused its data; 0: none
  bool sql_in_flight = false;                               // its next event is being made inside a transaction: others wait their turn
  std::deque<std::function<void()>> deferred;

  instance(definition_ptr definition, saga_id id, business_key key) : machine(std::move(definition), id, std::move(key)) {}
};

// What becomes one transaction, and what follows once it is durable.
struct engine::gathering {
  journal_batch rows;
  std::unordered_map<saga_id, std::size_t> changes;  // saga -> place in rows.changes
  std::vector<std::pair<saga_id, command>> after;
  std::vector<std::pair<saga_id, std::function<void(error const*)>>> told;
  std::vector<saga_id> notify;  // ended or parked in here
  std::vector<saga_id> rest;    // may leave memory once this has left

  std::vector<saga_id> starts;
  std::size_t records = 0;

  std::uint64_t number = 0;  // in the order of committing
  std::size_t bytes = 0;     // of payloads

  bool empty() const noexcept { return rows.empty() && told.empty() && after.empty() && notify.empty(); }
};

// A durable batch on its way out: its commands leave in slices, and answers get their turn in between.
struct engine::following {
  std::shared_ptr<gathering> batch;
  isolating_report outcome;
  std::size_t next = 0;  // of its commands

  following() = default;
};

// engine_gather.cpp. Rows that a command asks for beside its event.
bool add_rows(journal_batch& to, saga_row const& of, command& made, timestamp at);

}  // namespace atone::runtime
