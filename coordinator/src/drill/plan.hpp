// What a drill does, as its YAML file says: load, proxies, processes, faults, and what must be true. Reference: docs/drill.md.
// Thread rules: plain values; load_plan is pure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/diagnostic.hpp>
#include <atone/time.hpp>

#include "drill/proxy/fault.hpp"

namespace atone::drill {

// Sagas that are started all the time.
struct load_plan {
  static constexpr std::uint32_t in_flight_max = 1024;
  static constexpr std::uint32_t rate_max = 10'000;

  std::string saga;
  std::string definition;        // a file that is published at the beginning; empty: it is published already
  std::string input;             // JSON text with {n}; see input_of
  std::uint32_t in_flight = 32;  // sagas under way at a time
  std::uint32_t rate = 0;        // starts a second at most; 0: as many as in_flight lets begin
  duration warm_up = std::chrono::seconds{5};

  load_plan() = default;
};
// The input of saga number n: {n} becomes the number, {n%K} the rest of its division by K.
std::string input_of(std::string_view text, std::uint64_t n);

// "127.0.0.1:7001" taken apart.
struct socket_address {
  std::string address;
  std::uint16_t port = 0;

  socket_address() = default;
};

struct proxy_plan {
  std::string name;
  socket_address listen;
  socket_address to;

  proxy_plan() = default;
};

struct process_plan {
  std::string name;
  std::string start;     // a command line; empty: somebody else starts it again
  std::string pid_file;  // where its process id stands; may be empty where there is a command line
  std::string ready;     // a URL that answers 200 once it is up, or tcp://host:port; may be empty
  std::string log;       // what it prints is appended there; empty: dropped

  process_plan() = default;
};

// What a fault must bring about besides recovery; empty texts: nothing.
struct expectation {
  std::string fallback;  // path of a step that is served by its fallback
  std::string alert;     // kind of an alert that is raised

  expectation() = default;
};

struct fault_plan {
  enum class kind_of : std::uint8_t { kill, pause, network, command, clock };

  kind_of kind = kind_of::kill;
  std::string target;  // of the process or the proxy
  network_fault network;
  std::string run;
  std::string undo;
  duration off{};                 // of a clock: ahead, or behind where it is negative
  std::optional<duration> lasts;  // a kill may have none: it is started again at once
  std::uint32_t weight = 1;       // when they are drawn
  expectation expect;

  fault_plan() = default;
  std::string text() const;  // "kill atoned", "proxy orders delay 500ms for 10s"
};

// What must be true at the end. Nothing may ever be lost: that can't be set.
struct demands {
  duration recover_within = std::chrono::seconds{5};
  std::uint32_t back_to = 80;                   // percent of the usual rate
  duration stays = std::chrono::seconds{2};     // for so long, or it is not back
  duration give_up = std::chrono::seconds{30};  // how long recovery is waited for at all
  duration settle = std::chrono::minutes{2};    // how long the last sagas are waited for
  std::uint64_t parked = 0;                     // at most
  std::uint64_t ended_by_themselves = 0;        // processes, at most

  demands() = default;
};

struct drill_plan {
  static constexpr std::size_t faults_max = 200;
  static constexpr std::size_t parts_max = 64;  // proxies, processes, coordinators, audited services: each
  static constexpr std::uint32_t rounds_max = 1'000'000;

  std::string name;
  std::vector<std::string> coordinators;  // URLs
  std::string token_file;                 // holds the secret alone
  load_plan load;
  std::vector<proxy_plan> proxies;
  std::vector<process_plan> processes;
  std::vector<fault_plan> faults;
  std::uint32_t rounds = 1;                        // the list that often, or
  std::optional<duration> lasts;                   // until that time is over
  bool drawn = false;                              // by weight, instead of in the list's order
  duration rest = std::chrono::milliseconds{500};  // calm between two faults
  demands must;
  std::vector<std::pair<std::string, std::string>> audit;  // service, URL; empty: those of the definitions

  drill_plan() = default;
};

struct loaded_plan {
  std::shared_ptr<drill_plan const> plan;  // null when there are mistakes
  std::vector<diagnostic> diagnostics;

  loaded_plan() = default;
  bool ok() const noexcept { return plan != nullptr; }
};

// The value of an environment variable, or nothing.
using variable_lookup = std::function<std::optional<std::string>(std::string const&)>;

// Reads a plan. ${NAME} and ${NAME:-otherwise} in its texts are replaced by variables. All mistakes are told, with their places.
loaded_plan load_plan_text(std::string_view yaml, variable_lookup const& variables);

}  // namespace atone::drill
