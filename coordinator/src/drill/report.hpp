// What a drill saw, and what follows from it.
// Thread rules: plain values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/audit.hpp>
#include <atone/records.hpp>
#include <atone/time.hpp>

#include "drill/plan.hpp"
#include "drill/recovery.hpp"

namespace atone::drill {

// All times that one fault of the plan was applied.
struct fault_record {
  std::string text;
  expectation expect;
  bool kills = false;
  std::string proxy;  // whose connections it is about; empty: it is no proxy's fault
  std::uint64_t times = 0;
  std::vector<duration> recoveries;  // of those that recovered: from the fault's end until the rate was back
  std::vector<duration> gaps;        // the longest without any saga that ended, from each fault's beginning until the rate was back
  std::uint64_t unrecovered = 0;
  std::uint64_t settled = 0;                       // sagas, from the fault's begin to the next one's
  std::map<std::string, std::uint64_t> fell_back;  // of these: by the step that its fallback served
  std::map<std::string, std::uint64_t> alerts;     // of these: by the alert's kind; asked for only where one is expected
  std::uint64_t fallback_missed = 0;               // times that the expected one did not come
  std::uint64_t alert_missed = 0;
  std::uint64_t hits = 0;         // connections that it did something to; of a proxy's fault
  std::uint64_t hit_nothing = 0;  // times that it touched none, nothing went through the proxy, or the process kept its clock
  std::string left_out;           // why it can't be applied here; empty: it can

  fault_record() = default;
};

// What the ledger says at the end.
struct ledger_sums {
  std::uint64_t accepted = 0;
  std::uint64_t unanswered = 0;  // starts that nobody ever answered
  std::uint64_t completed = 0;
  std::uint64_t compensated = 0;
  std::uint64_t parked = 0;
  std::uint64_t open = 0;     // still under way when the time to settle was over
  std::uint64_t missing = 0;  // accepted, and unknown at the end
  std::uint64_t fell_back = 0;
  std::uint64_t doubled = 0;              // keys with more than one saga, and sagas with more than one key
  std::vector<std::string> missing_ids;   // the first few
  std::vector<std::string> doubled_keys;  // likewise

  ledger_sums() = default;
};

struct drill_report {
  static constexpr std::size_t ids_max = 20;

  std::string name;
  std::uint64_t seed = 0;
  duration took{};
  usual_rate usual;
  std::vector<fault_record> faults;  // in the plan's order
  ledger_sums sagas;
  std::uint64_t repeats = 0;                   // requests of the load that were sent again
  std::map<std::string, std::uint64_t> ended;  // by process: how often it ended by itself
  std::optional<audit::report> audit;
  std::string trouble;  // why the drill could not be carried out, or its end not be checked; empty: nothing
  bool interrupted = false;
  bool must_be_whole = false;  // a fault that is left out is one too many

  drill_report() = default;
  std::uint64_t kills() const noexcept;
  std::uint64_t applied() const noexcept;
  std::uint64_t left_out() const noexcept;  // faults of the plan
  std::uint64_t ends() const noexcept;
};

enum class standing : std::uint8_t { kept, broken, unknown };
std::string_view name(standing of) noexcept;

// One of the things a drill is about.
struct judgement {
  std::string_view about;  // "recovery", "lost", "degradation", "hits", "left out", "parked", "processes", "carried out"
  standing stands = standing::kept;
  std::string text;

  judgement() = default;
  judgement(std::string_view what, standing how, std::string words) : about(what), stands(how), text(std::move(words)) {}
};
std::vector<judgement> judge(drill_report const& of, demands const& must);
// Broken before unknown before kept.
standing verdict(std::vector<judgement> const& all) noexcept;
// 0 passed, 1 violated, 2 not checkable, or not carried out.
int exit_code(standing of) noexcept;

std::string to_text(drill_report const& of, demands const& must);
std::string to_json(drill_report const& of, demands const& must);

// Middle and longest of the recoveries; zero where there are none.
duration median(std::vector<duration> all);
duration longest(std::vector<duration> const& all);
// "4.20 s"
std::string seconds_text(duration time);

}  // namespace atone::drill
