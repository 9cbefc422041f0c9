// What a saga's events say of each step, read without the machine: the audit must not repeat a mistake of the code it audits.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <atone/audit.hpp>
#include <atone/definition.hpp>
#include <atone/event.hpp>

namespace atone::audit {

struct step_facts {
  std::uint32_t act_successes = 0;  // answers that were used
  bool act_late_success = false;    // an answer that came too late: done all the same
  bool act_unknown = false;         // some request may have been done
  std::uint32_t undo_successes = 0;
  bool operator_touched = false;
  std::string operator_note;

  step_facts() = default;
};
using facts_by_step = std::map<step_path, step_facts>;

facts_by_step collect_facts(std::vector<event> const& events);

// Nothing when the events are whole (1, 2, 3 … beginning with `started`, up to the row's newest), else what is wrong.
std::optional<std::string> history_gap(saga_facts const& of);

// Nothing when every event but the first names an earlier one as its cause, else which one does not.
std::optional<std::string> cause_gap(saga_facts const& of);

// Nothing unless the saga's definition has a lock, and a step began before the lock was granted: which.
std::optional<std::string> lock_gap(saga_facts const& of);

// A step that does something, as the definition has it.
struct leaf {
  atomicity promise = atomicity::read_only;
  std::string act_service;  // empty: a statement in the journal's own database, exactly once by its transaction
  bool has_undo = false;
  std::string undo_service;  // empty likewise
  bool has_fallback_call = false;
  std::string fallback_service;

  leaf() = default;
};
using leaves = std::map<step_path, leaf>;

leaves collect_leaves(definition const& of);

}  // namespace atone::audit
