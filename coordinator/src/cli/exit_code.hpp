// What the command line answers to scripts; docs/cli.md prints this table.
// Thread rules: plain values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <atone/result.hpp>

namespace atone::cli {

// Stable: scripts rely on the numbers.
enum class exit_code : std::int32_t {
  done = 0,
  negative = 1,     // it worked, and the answer is no: mistakes found, saga compensated
  usage = 2,        // the command line or a file named in it is wrong
  unavailable = 3,  // the daemon or the store can't be reached now
  not_found = 4,    // no such saga, definition or step
  conflict = 5,     // the state does not allow it
  timed_out = 6,    // not ended within the given time
  parked = 7,       // the saga waits for a person
  internal = 10,    // a fault of atone itself, or an answer that can't be read
};

struct exit_code_text {
  exit_code code;
  std::string_view meaning;
};
std::vector<exit_code_text> const& exit_code_table();

exit_code exit_code_of(errc code) noexcept;

}  // namespace atone::cli
