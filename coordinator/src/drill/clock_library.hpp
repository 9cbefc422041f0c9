// libfaketime, which gives a process another wall clock: it is loaded into it before everything else.
// Thread rules: plain functions.
#pragma once

#include <string>

#include <atone/time.hpp>

namespace atone::drill {

// Where packages put it; empty: nowhere.
std::string find_clock_library();

// What stands before a command line so that its program's wall clock is that much ahead (behind: negative). Clocks that count from the
// machine's start stay right. Empty for no time at all.
std::string clock_prefix(duration off, std::string const& library);

// The library keeps what processes share under the process id, and has no chance to remove that where one is killed.
void forget_clock(int pid);

}  // namespace atone::drill
