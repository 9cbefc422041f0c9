// Carries a drill out: brings the installation up, starts sagas, applies the faults one after another, and looks at what is left.
//
// Thread rules: one thread, that of main(), and one for each proxy.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <atone/http.hpp>
#include <atone/result.hpp>

#include "drill/plan.hpp"
#include "drill/report.hpp"

namespace atone::drill {

// What a drill takes from outside.
struct drill_world {
  std::uint64_t seed = 1;
  std::uint64_t first = 1;  // number of the first saga: higher than any of an earlier drill's
  std::string run = "1";    // in every key of this drill, and in none of another's
  std::string token;        // secret for the coordinators; may be empty
  http::tls_options tls;
  std::function<bool()> interrupted;                               // looked at all the time; true ends the drill early
  std::function<void(std::string const&)> tell;                    // what is going on, a line at a time
  std::function<result<audit::report>(std::string const&)> audit;  // by the coordinator at this URL
  std::string clock_library;                                       // libfaketime, which gives a process another clock; empty: there is none
  bool must_be_whole = false;                                      // a fault that has to be left out makes the drill not checkable

  drill_world() = default;
};

// Errors: the installation can't be brought up, or a proxy can't listen. Whatever happens after that is in the report. All faults are
// undone and what was brought up is ended, whichever way it ends.
result<drill_report> run_drill(drill_plan const& plan, drill_world const& with);

// Which fault comes when: the list again and again, or drawn by weight once each has had its turn. Pure; the same for the same seed.
class fault_order {
 public:
  fault_order(drill_plan const& plan, std::uint64_t seed) : plan_(plan), state_(seed) {}
  std::size_t next();

 private:
  drill_plan const& plan_;
  std::uint64_t state_;
  std::size_t at_ = 0;
};

}  // namespace atone::drill
