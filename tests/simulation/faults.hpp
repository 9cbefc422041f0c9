// What can go wrong in a simulated run, how often, and which of it did. Each fault is named by its kind and by which time its kind was
// asked for: so a list of them says everything, and a run can be repeated with fewer (shrinking) or with exactly these (exhaustive runs).
// Thread rules: values of one thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "dice.hpp"

namespace atone::simulation {

enum class fault : std::uint8_t {
  refuse,        // a final no to an action
  refuse_undo,   // a no to a compensation
  busy,          // 429: definitely not done
  error,         // 503, before the work
  lose_answer,   // the work is done, the answer is lost
  duplicate,     // the request arrives twice
  late,          // the answer comes after the attempt's timeout
  reorder,       // a copy of the request arrives much later, after everything
  slow,          // the participant takes its time, but not too long
  wrong_answer,  // an answer that its schema does not allow
  hold,          // the call waits in the sender: its address takes no connections
  hang,          // a local handler does the work and never answers
  store_away,    // the store does not answer
  commit_lost,   // a commit takes effect, its answer is lost
  commit_slow,   // a commit takes longer than a lease
  reject_data,   // the store refuses one saga's data
  crash,         // after any happening
  crash_before_commit,
  crash_after_commit,
  crash_before_send,
  crash_after_send,
  freeze,      // a process stands still, and goes on later (SIGSTOP)
  clock_jump,  // the store's clock jumps, forward or back
  deaf,        // a coordinator's look at the others is lost
  cancel,      // somebody cancels the saga
  pause,       // somebody pauses it, and resumes it later
  meddle,      // somebody retries, skips or completes a step
  look,        // somebody asks how it stands
  // Drawn by dice of their own, so that what was drawn before they came stays as it was.
  stop,            // a process is told to stop (SIGTERM): it drains, hands over and ends
  callback,        // a participant answers 202, and reports later
  callback_twice,  // it reports once more, perhaps when everything is over
  callback_lost,   // it never does
  count
};
inline constexpr std::size_t fault_kinds = static_cast<std::size_t>(fault::count);
std::string_view name(fault kind) noexcept;
std::optional<fault> parse_fault(std::string_view word) noexcept;

// One fault: the `at`-th time (from 0) that its kind was asked for.
struct happened {
  fault kind = fault::refuse;
  std::uint64_t at = 0;

  happened() = default;
  happened(fault of, std::uint64_t which) : kind(of), at(which) {}
  friend auto operator<=>(happened const&, happened const&) = default;
  friend bool operator==(happened const&, happened const&) = default;
};

// How likely each kind is, in thousandths.
using rates = std::array<std::uint32_t, fault_kinds>;

// By seed: some kinds are off, some moderate, some exaggerated. `several`: more than one coordinator.
rates drawn_rates(dice& from, bool several);

// Decides. With a script it is the script that says which happen; else the rates.
class fault_source {
 public:
  fault_source(rates likely, std::uint64_t seed) : rates_(likely), dice_(seed), aside_(seed ^ 0xBB67AE8584CAA73BU) {}
  void script(std::set<happened> exactly) { script_ = std::move(exactly); }
  // No more of those that harm: what people ask for has an end too.
  void calm() noexcept { raging_ = false; }
  bool raging() const noexcept { return raging_; }
  bool happens(fault kind);

  std::vector<happened> const& list() const noexcept { return list_; }
  std::uint64_t asked(fault kind) const noexcept { return asked_[static_cast<std::size_t>(kind)]; }

 private:
  rates rates_;
  dice dice_;
  dice aside_;  // of `stop` and what comes behind it
  bool raging_ = true;
  std::optional<std::set<happened>> script_;
  std::array<std::uint64_t, fault_kinds> asked_{};
  std::vector<happened> list_;
};

}  // namespace atone::simulation
