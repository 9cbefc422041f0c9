// `atone poke URL`: sends a participant the five awkward sequences that a network, a crash or a retry will send it one day, and says
// whether it holds: twice, compensation first, late action, lost reply, concurrent pair.
//
// The sagas it makes up have ids whose time part is zero (audit::is_probe), so that an audit leaves them aside, and each is undone at the
// end. Thread rules: run_poke uses a second thread for the concurrent pair.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <atone/ids.hpp>
#include <atone/result.hpp>

#include "cli/command.hpp"

namespace atone::cli {

// One request a participant serves: the action or its compensation.
struct poke_call {
  std::string method;
  std::string target;  // "/orders/17"
  std::string body;    // JSON, may be empty

  poke_call() = default;
  friend bool operator==(poke_call const&, poke_call const&) = default;
};
// "POST /orders" or "DELETE /orders/17".
result<poke_call> parse_poke_call(std::string_view option, std::string_view text, std::string body);

// What one sequence showed.
struct poke_finding {
  std::string sequence;  // "twice"
  bool holds = false;
  std::string text;  // what was answered, and what was expected where it does not hold

  poke_finding() = default;
};

struct poke_plan {
  std::string url;
  poke_call act;
  poke_call undo;
  std::string step = "poke";
  std::uint64_t run = 0;  // makes the saga ids of this run its own
  duration timeout = std::chrono::seconds{10};

  poke_plan() = default;
};

// All five, in order. Texts may contain {n}, which is replaced by a number that differs from sequence to sequence (an order's id). Errors:
// the participant can't be reached at all.
result<std::vector<poke_finding>> poke(poke_plan const& plan, surroundings const& with);

// Exit status 0 when every sequence holds, 1 when one does not.
exit_code run_poke(arguments const& typed, surroundings const& with);

}  // namespace atone::cli
