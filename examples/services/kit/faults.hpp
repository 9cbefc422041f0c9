// Faults a participant shows on purpose: which, how often, and for which request. The draw is a pure function of seed and
// request, so that a run can be repeated.
// Thread rules: plain values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <atone/ids.hpp>
#include <atone/result.hpp>
#include <atone/time.hpp>

namespace kit {

enum class fault_kind : std::uint8_t {
  none,
  fail,    // 503 before any work
  hang,    // holds the request, does nothing, closes without an answer
  drop,    // does the work, closes without an answer
  late,    // does the work, answers after a while
  twice,   // does the work twice, as a doubled delivery would
  refuse,  // a final "no" (only for the action: a compensation must never be refused)
};
inline constexpr std::size_t fault_kinds = 7;
std::string_view name(fault_kind kind) noexcept;

struct fault {
  fault_kind kind = fault_kind::none;
  atone::duration delay{};  // hang and late

  fault() = default;
  fault(fault_kind what, atone::duration after) : kind(what), delay(after) {}
  friend bool operator==(fault const&, fault const&) = default;
};

// How often each kind comes, in millionths.
struct fault_plan {
  static constexpr std::uint32_t whole = 1'000'000;
  struct entry {
    std::uint32_t rate = 0;
    atone::duration delay{};
  };

  std::array<entry, fault_kinds> entries{};
  std::uint64_t seed = 0;

  fault_plan() = default;
  bool empty() const noexcept;
};

// "fail=0.02,hang=0.02:1500ms,drop=0.02,late=0.02:800ms,twice=0.02,refuse=0.03"; empty: none. hang and late need a duration of at
// most a minute; the rates add up to at most 1. Errors name the part, what was found and what was expected.
atone::result<fault_plan> parse_faults(std::string_view text);

// One request as it arrived.
struct request_identity {
  std::string_view saga;
  std::string_view step;
  atone::operation op = atone::operation::act;
  std::string_view attempt;
};

// The fault for this request; the same each time it is asked. `refuse` is drawn for actions only: for others it counts as none.
fault draw(fault_plan const& plan, request_identity const& request);

}  // namespace kit
