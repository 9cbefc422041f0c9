// The saga machine: (definition, state, event) -> (state, commands). Pure: no clock, no ids made inside, no I/O. Whoever
// drives it journals the event first, then performs the commands; replaying the journal gives the state again.
// `machine_version` names its semantics; it is not stored with a run yet, and there is no released journal to hold it to.
//
// Thread rules: a saga_machine is a plain value of one thread; the definition is shared and immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <atone/definition.hpp>
#include <atone/event.hpp>
#include <atone/ids.hpp>
#include <atone/records.hpp>
#include <atone/result.hpp>
#include <atone/time.hpp>

namespace atone {

inline constexpr std::uint32_t machine_version = 1;

namespace machine {
struct saga_state;  // internal
}

// ---- commands performed after the event is durable ----

// A request to an HTTP participant, but for its address and headers.
struct http_request_spec {
  std::string method;
  std::string target;  // path with placeholders filled in, and the query
  std::string body;    // empty: none

  http_request_spec() = default;
};
// A call of a handler in the coordinator's process.
struct local_request_spec {
  std::string handler;  // "group.handler": the service's local group, and the handler's name
  std::string input;    // JSON

  local_request_spec() = default;
};
// One statement in the journal's own database, run in the transaction that records its success.
struct sql_request_spec {
  std::string text;        // with :names
  std::string parameters;  // JSON object

  sql_request_spec() = default;
};

// Send this request. The answer comes back as step_succeeded, step_refused or attempt_failed with the same (step, op, n).
struct call_command {
  step_path step;
  operation op = operation::act;
  attempt n;
  std::string service;  // name in the definition; empty for sql
  std::variant<http_request_spec, local_request_spec, sql_request_spec> request;
  duration attempt_timeout{};
  // It was under way before (take-over): an earlier sending of this very attempt may have been done. Whoever sends it says so in the
  // answer's event: certainty::unknown, for a refusal too.
  bool again = false;

  call_command() = default;
};
// The machine no longer waits for this call; whatever still arrives is a late_answer.
struct abandon_command {
  step_path step;
  operation op = operation::act;
  // It does wait, but not for one that has not left yet: take that back and deliver attempt_failed, not done.
  bool only_unsent = false;

  abandon_command() = default;
};
// Deliver timer_fired with the same (timer, step, op) once the database's clock has reached `due`; at once when it is past.
struct arm_timer_command {
  timer_kind timer = timer_kind::none;
  step_path step;
  operation op = operation::none;
  timestamp due;

  arm_timer_command() = default;
};
// That timer need not fire. One that fires all the same is refused by apply(): harmless.
struct cancel_timer_command {
  timer_kind timer = timer_kind::none;
  step_path step;
  operation op = operation::none;

  cancel_timer_command() = default;
};
// Look up the last good output; the answer comes back as last_output_found or last_output_missing.
struct last_output_command {
  step_path step;
  std::string key;
  timestamp not_before;  // older ones don't count

  last_output_command() = default;
};
// The saga stands in the queue for its lock (saga_machine::lock). Deliver lock_granted once every saga that has it has ended, and that is
// durable; a refused one (paused or cancelled meanwhile) takes the saga out of the queue: it asks again when it goes on.
struct acquire_lock_command {
  acquire_lock_command() = default;
};

// ---- commands performed in the transaction that journals the event ----

// Write the compensation log's row of this operation. `pending` is emitted before the request it announces.
struct log_compensation_command {
  step_path step;
  operation op = operation::compensate;
  compensation_status status = compensation_status::pending;
  std::uint32_t attempts = 0;  // the one that begins included
  std::string last_error;

  log_compensation_command() = default;
};
// Keep the step's output for `fallback: last_output` of later sagas.
struct record_output_command {
  step_path step;
  std::string key;     // JSON text of the evaluated key
  std::string output;  // JSON

  record_output_command() = default;
};
// Raise an alert: something a person should see.
struct alert_command {
  step_path step;    // empty: the saga itself
  std::string kind;  // "parked", "slow", "fallback", "output"
  alert_level level = alert_level::warn;
  std::string text;

  alert_command() = default;
};

using command = std::variant<call_command, abandon_command, arm_timer_command, cancel_timer_command, last_output_command,
                             acquire_lock_command, log_compensation_command, record_output_command, alert_command>;

// ---- state, for those who look (show, tests); only the machine changes it ----

// How far a step's action has come.
enum class run_phase : std::uint8_t {
  pending,        // not reached
  skipped,        // its `when` was false
  active,         // a request is out
  waiting_retry,  // until the retry timer
  retry_held,     // due, but the saga is paused
  looking_up,     // waits for the last good output
  in_branches,    // a parallel step whose branches run
  done,
  not_done,    // definitely without effect
  maybe_done,  // given up with unknown outcome
  parked,      // waits for a person
};
std::string_view name(run_phase phase) noexcept;

// How far a step's compensation has come; `skipped`: a person decided against it. `pending` is not used by this machine version.
enum class undo_phase : std::uint8_t { none, pending, active, waiting_retry, retry_held, done, parked, skipped };
std::string_view name(undo_phase phase) noexcept;

// One step as the picture shows it.
struct step_view {
  step_path path;
  run_phase phase = run_phase::pending;
  undo_phase undo = undo_phase::none;
  std::uint32_t attempts = 0;       // of the action, those before an operator's retry included
  std::uint32_t undo_attempts = 0;  // of the compensation, likewise
  bool fell_back = false;           // its output is the fallback's
  bool maybe_sent = false;          // some attempt's outcome is unknown
  std::string last_error;           // for people; cut at 2 KiB, 4 KiB where it says why a compensation is parked

  step_view() = default;
};

// Drives one saga.
class saga_machine {
 public:
  // The machine of a saga that has no event yet. The definition must not be null.
  saga_machine(definition_ptr definition, saga_id id, business_key key);
  ~saga_machine();
  saga_machine(saga_machine const&);
  saga_machine& operator=(saga_machine const&);
  saga_machine(saga_machine&&) noexcept;
  saga_machine& operator=(saga_machine&&) noexcept;

  // Takes the next event and returns what follows from it, in the order it is to be performed. `next.seq` must be last() + 1, and the first
  // event `started` (asserted). Errors (nothing is changed, and the event must not be journalled): conflict
  // when the state does not allow it (cancel after the pivot, retry of a step that is not parked, an answer nobody
  // waits for: journal that as late_answer); not_found for a step that was not reached; invalid_argument for an input or an operator's
  // output that does not fit. A journalled event is never refused at replay.
  result<std::vector<command>> apply(event const& next);

  // Everything that must be under way in this state: what a take-over sends and arms again. Calls in flight come with the same attempt
  // number.
  std::vector<command> outstanding() const;

  // Until when nothing but timers is under way: the first of them is due then; wakes_never: there is none. Nothing: a request is out, the
  // saga waits for a lock or has one, or it has ended.
  std::optional<timestamp> rests_until() const;

  saga_status status() const noexcept;
  saga_id id() const noexcept;
  sequence last() const noexcept;              // the newest event applied
  std::string const& cause() const noexcept;   // first cause of failure, for people; empty: none
  std::string const& output() const noexcept;  // JSON; set once completed
  bool paused() const noexcept;                // true behind status() parked as well
  bool parked_itself() const noexcept;         // by the runtime: `retry` without a step goes on with everything
  // Whether this attempt is the one whose answer is waited for.
  bool expects(step_path const& step, operation op, attempt n) const;
  // The attempt of this operation whose answer is waited for; 0: none.
  attempt attempt_out(step_path const& step, operation op) const;
  // Whether step_timeout would end this step's action: a call that never left is then surely not done, and timer_fired says so.
  bool gives_up_at_timeout(step_path const& step) const;
  // What the saga's lock is called: the canonical JSON of its value; empty: it has none. Known from the first event on.
  std::string const& lock() const noexcept;
  // Whether that is its own: from lock_granted on, and until whoever drives it has dropped it after its end.
  bool has_lock() const noexcept;
  bool can_cancel() const noexcept;  // false once the pivot has been sent, or compensation runs, or ended
  definition const& bound_to() const noexcept;
  std::vector<step_view> steps() const;  // reached ones, in order of the text
  // Parked steps, for operators; of a saga that is parked itself also those that were at work.
  std::vector<step_path> parked_steps() const;

 private:
  std::unique_ptr<machine::saga_state> state_;
};

}  // namespace atone
