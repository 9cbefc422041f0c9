// One measured case: a store, a coordinator, a load, and the figures that come of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <atone/coordinator.hpp>

#include "load.hpp"
#include "peer_target.hpp"
#include "stage.hpp"

namespace bench {

struct case_settings {
  std::string name;
  store_kind store = store_kind::postgresql;
  callee to = callee::http;
  bool refused = false;
  bool by_daemon = false;
  std::uint32_t in_flight = 256;                     // closed loop
  std::optional<double> rate;                        // open loop instead: sagas a second
  std::optional<place> in;                           // a store that is there already; nothing: a new one
  atone::duration retention{};                       // finished sagas are deleted after it; 0: kept
  std::function<served()> peer;                      // starts another engine on `in`; nothing: Atone
  std::optional<std::chrono::milliseconds> warm_up;  // instead of --warm-up
  std::uint64_t warm_up_sagas = 0;                   // at least so many before the window begins, unless they take too long

  case_settings() = default;
};

struct case_figures {
  std::string name;
  std::uint64_t sagas = 0;  // ended in the whole run, warm-up included
  std::uint64_t turned_away = 0;
  double sagas_per_s = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double p999_ms = 0;
  // Over the whole run: PostgreSQL's own counters lag behind by a second. SQLite: the engine's count, and the bytes this process sent to
  // storage. Nothing where a peer keeps files of its own.
  std::optional<double> commits_per_saga;
  std::optional<double> wal_bytes_per_saga;
  // Of the engine, when it is in this process.
  std::optional<double> records_per_commit;
  std::optional<double> loop_us_per_event;
  std::optional<double> offered_per_s;            // of an open loop
  std::optional<double> deleted_per_s;            // finished sagas, where some are deleted
  std::map<std::string, double> cpu_us_per_saga;  // part -> microseconds in the window
  double idle_percent = 0;                        // of the machine
  double others_percent = 0;                      // used by processes that are not ours

  case_figures() = default;
};

case_figures measure(stage& on, case_settings const& of);

}  // namespace bench
