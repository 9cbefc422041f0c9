// How far audits have come, kept between scheduled runs of `atone audit --state FILE`.
#pragma once

#include <optional>
#include <set>
#include <string>

#include <atone/ids.hpp>
#include <atone/result.hpp>
#include <atone/time.hpp>

namespace atone::cli {

// Every saga up to `judged_up_to` has been judged, but for those in `open`, which had not ended.
struct audit_state {
  saga_id judged_up_to;
  std::set<saga_id> open;

  audit_state() = default;
};

// Nothing: the file is not there yet, or no path was given. Errors name the file and what is wrong in it.
result<std::optional<audit_state>> read_audit_state(std::string const& path);
// In one piece or not at all: a run that is killed leaves the file as it was.
result<void> write_audit_state(std::string const& path, audit_state const& what);

// The id that a saga started that much earlier would begin with: ids begin with 48 bits of milliseconds.
saga_id older_by(saga_id than, duration time) noexcept;

}  // namespace atone::cli
