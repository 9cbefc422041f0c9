// `atone audit`: reads the journal through the daemon's API, or from a dump (audit_journal.hpp), and the participants through GET
// /atone/effects, and proves that each ended saga is all or nothing. The judging itself is pure: atone/audit.hpp.
// Thread rules: one thread.
#pragma once

#include <string>
#include <vector>

#include <atone/audit.hpp>
#include <atone/result.hpp>

#include "cli/command.hpp"

namespace atone::cli {

// Where one service's effects are read.
struct audit_source {
  std::string service;
  std::string url;

  audit_source() = default;
  friend bool operator==(audit_source const&, audit_source const&) = default;
};

// "orders=http://127.0.0.1:7001". Errors say what was expected.
result<std::vector<audit_source>> parse_sources(std::vector<std::string> const& typed);

// Everything between the world and the report. Errors: the daemon or a participant can't be read.
result<audit::report> audit_all(std::vector<audit_source> const& sources, surroundings const& with);

// Exit status 0 proven, 1 violated, 2 not checkable (nothing checked included); 3 and above as for the other commands.
exit_code run_audit(arguments const& typed, surroundings const& with);

}  // namespace atone::cli
