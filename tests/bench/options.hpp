// The command line of the bench. Thread rules: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct options {
  std::string name;  // what to measure
  std::string json_file;
  std::chrono::milliseconds warm_up{1000};
  std::chrono::milliseconds window{5000};
  std::chrono::milliseconds overload{60'000};  // how long `overload` asks for too much, and `stress` lasts
  std::vector<std::string> only;               // cases of `throughput`; empty: all
  std::optional<std::uint32_t> in_flight;      // instead of each case's own
  double open_share = 0.6;                     // rate of the open loop, of what the closed loop reached
  std::optional<double> rate;                  // of the open loop, instead
  bool with_daemon = false;
  bool keys = false;
  bool unix_socket = false;
  std::uint32_t handler_threads = 1;
  std::string store;               // of recovery, memory, growth; empty: each one's own
  std::uint64_t count = 0;         // sagas of recovery and memory; 0: each one's own
  std::uint64_t rows = 1'000'000;  // finished sagas of growth and retention
  std::string folder = "/var/tmp";
  std::string daemon_program;
  std::string npm = "npm";   // the program that installs the peers
  std::string peers_folder;  // their package.json and workers, and what npm installs
  std::uint64_t seed = 1;

  options() = default;
  bool wants(std::string const& which) const;
};

// Throws a failure that says what was expected.
options read_options(int count, char const* const* words);
std::string usage_text();

}  // namespace bench
