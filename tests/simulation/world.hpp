// One simulated world: virtual time, a store, participants, one or several coordinators around the real engine, the people who use them,
// and everything that can go wrong between them. A world is made from settings and a seed, and the same seed gives the same run.
// Thread rules: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agenda.hpp"
#include "blueprint.hpp"
#include "dice.hpp"
#include "faults.hpp"
#include "judge.hpp"
#include "participants.hpp"
#include "shared_store.hpp"

namespace atone::simulation {

class node;
class people;

// What the engine is given as bounds, and whether its alarms ring at half the time: small in some runs, so that full queues, tiny batches
// and turns that end early are everyday.
struct engine_bounds {
  std::uint32_t open_max = 100'000;
  std::size_t queue_max = 200'000;
  std::size_t timers_a_turn = 256;
  std::size_t commands_a_turn = 64;
  std::size_t records_a_batch = journal_batch::records_max;
  bool early_alarms = false;
  std::size_t adopted_a_turn = 1000;  // sagas of a shard that is loaded
  duration rest_least{std::chrono::seconds{60}};
  std::size_t wakes_a_read = 32;

  engine_bounds() = default;
};

// What some runs have and others not: as much as before it came stays the same run.
struct extras {
  bool stops = false;       // processes that are told to stop
  bool callbacks = false;   // participants that answer 202 and report later
  bool sql_starts = false;  // sagas that other programs start inside transactions of their own (atone.start)

  extras() = default;
};

struct world_settings {
  std::uint64_t seed = 1;
  unsigned nodes = 1;
  bool leased = false;  // else one coordinator at a time drives everything
  std::uint16_t shards = 1;
  duration lease{std::chrono::seconds{2}};
  unsigned sagas = 60;
  duration arrivals{std::chrono::seconds{20}};  // over how long they are started
  duration rage{std::chrono::seconds{40}};      // then the faults stop
  duration limit{std::chrono::hours{3}};        // and by then everything must have ended
  rates likely{};
  engine_bounds bounds;
  extras extra;
  std::optional<std::set<happened>> script;  // exactly these, instead of by chance
  bool trace = false;

  world_settings() = default;
};

// Everything a seed decides but the definitions.
world_settings drawn_settings(std::uint64_t seed);

class world {
 public:
  // The blueprints outlive the world.
  world(world_settings with, std::vector<blueprint> const& definitions);
  ~world();
  world(world const&) = delete;
  world& operator=(world const&) = delete;

  void run();

  world_settings const& settings() const noexcept { return settings_; }
  std::vector<blueprint> const& definitions() const noexcept { return definitions_; }
  agenda& time() noexcept { return agenda_; }
  fault_source& faults() noexcept { return faults_; }
  dice& delays() noexcept { return delays_; }
  shared_store& store() noexcept { return store_; }
  atone::simulation::judge& judge() noexcept { return judge_; }
  participants& services() noexcept { return services_; }
  std::vector<std::unique_ptr<node>>& nodes() noexcept { return nodes_; }

  bool happens(fault kind) {
    bool const does = faults_.happens(kind);
    if (does && settings_.trace) note("fault", std::string{name(kind)});
    return does;
  }
  // The store's own clock.
  timestamp store_time() const { return timestamp{std::chrono::seconds{1'700'000'000}} + agenda_.now() + clock_offset_; }
  duration time_now() const noexcept { return agenda_.now(); }
  saga_id next_saga();
  void jump_clock();
  // A participant reports what came of a request, to whoever drives the saga; again while nobody does, so many times in all.
  void report(runtime::outgoing_call const& what, runtime::call_answer const& answer, int times);

  bool tracing() const noexcept { return settings_.trace; }
  void note(std::string_view what, std::string const& more);
  std::string const& trace() const noexcept { return trace_; }
  // Changes with everything that happens: two runs of one seed have the same.
  std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  void mark(std::uint64_t what) noexcept {
    fingerprint_ = (fingerprint_ ^ what) * 0x100000001B3U + static_cast<std::uint64_t>(agenda_.now().count());
  }
  std::uint64_t crashes() const noexcept { return crashes_; }
  void count_crash() noexcept { ++crashes_; }
  std::uint64_t stops() const noexcept { return stops_; }
  void count_stop() noexcept { ++stops_; }

 private:
  void step();
  void become_calm();

  world_settings settings_;
  std::vector<blueprint> const& definitions_;
  agenda agenda_;
  dice delays_;
  fault_source faults_;
  atone::simulation::judge judge_;
  shared_store store_;
  participants services_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::unique_ptr<people> people_;
  duration clock_offset_{};
  std::uint64_t ids_ = 0;
  std::uint64_t crashes_ = 0;
  std::uint64_t stops_ = 0;
  std::uint64_t fingerprint_ = 0xcbf29ce484222325U;
  std::string trace_;
};

}  // namespace atone::simulation
