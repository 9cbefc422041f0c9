// The command line of the simulation program. Thread rules: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atone::simulation {

struct program_options {
  std::optional<std::uint64_t> seed;   // nothing: a fresh one
  std::optional<std::uint64_t> seeds;  // how many, one after the other; nothing: one, of --planted as many as may be needed
  std::optional<double> minutes;       // instead of `seeds`
  std::string replay;                  // file of kept seeds
  std::string only;                    // of planted bugs: this one
  bool trace = false;
  bool shrink = false;
  bool planted = false;
  bool help = false;

  program_options() = default;
};

extern char const* const usage;
// Nothing: `wrong` says why.
std::optional<program_options> read_options(std::vector<std::string> const& words, std::string& wrong);
// The seeds of such a file: one a line, `#` begins a comment. Throws when it can't be read or holds something else.
std::vector<std::uint64_t> kept_seeds(std::string const& file);

}  // namespace atone::simulation
