// The demo's flags.
// Thread rules: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <atone/result.hpp>
#include <atone/time.hpp>

namespace demo {

struct demo_options {
  std::string bin;                 // folder with atoned, atone and the services; default: where the demo itself is
  std::string saga;                // the definition's file
  std::string purchases;           // the log
  std::string work = "demo-data";  // folder for databases and logs, made anew
  std::string store;               // of the daemon; empty: SQLite in `work`
  std::uint32_t count = 5000;
  bool all = false;
  std::uint32_t fault_percent = 10;
  std::uint64_t seed = 42;
  std::uint32_t in_flight = 64;
  std::uint32_t kills = 1;                           // kill -9 of the daemon: one half-way, more at moments drawn by the seed
  atone::duration outage = std::chrono::seconds{6};  // how long the feature service is stopped; 0: not at all
  bool help = false;

  demo_options() = default;
};

atone::result<demo_options> parse_demo_options(std::vector<std::string> const& arguments, demo_options defaults);
std::string demo_help();

// The --faults of one service for so many percent of faults altogether, all kinds: hangs and late answers stay below 2 s.
std::string fault_flags(std::uint32_t percent);

}  // namespace demo
