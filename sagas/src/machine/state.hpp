// The saga machine's state, and one turn of it. Internal to this folder.
//
// A saga is a tree of frames: the root sequence, and one frame for each branch of a parallel step. A frame holds one run for
// each step it has reached. Facts (what an event says) are recorded first; then `drive` walks the tree and issues whatever is
// due. Only drive issues calls, so a paused saga records everything and sends nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/machine.hpp>

namespace atone::machine {

struct frame;

// One step of one frame, from the moment it is reached.
struct step_run {
  step const* of = nullptr;
  step_path path;

  run_phase phase = run_phase::pending;
  std::uint32_t attempts = 0;       // of the action; numbers are never used twice
  std::uint32_t attempts_base = 0;  // where the budget counts from: an operator's retry grants a new one
  bool maybe_sent = false;          // the outcome of some attempt is unknown
  bool fell_back = false;
  bool fallback_due = false;  // decided, not begun
  bool alerted_slow = false;
  timestamp first_sent;
  std::optional<timestamp> retry_due;
  std::optional<timestamp> timeout_due;

  undo_phase undo = undo_phase::none;
  std::uint32_t undo_attempts = 0;
  std::uint32_t undo_base = 0;
  timestamp undo_first_sent;
  std::optional<timestamp> undo_retry_due;
  std::optional<timestamp> undo_slow_due;  // when somebody should hear of it, then when it is parked

  std::string in;  // JSON as sent
  std::string undo_in;
  std::string answer;  // what the participant answered; empty: nothing usable. A compensation's `out`
  std::string output;  // what later steps see: the answer, the fallback's value or an operator's
  std::string last_error;
  last_output_command lookup;  // while looking up

  std::vector<frame> branches;  // of a parallel step

  action_verb const* action() const noexcept { return std::get_if<action_verb>(&of->verb); }
};

// A sequence of steps, and how far it has come.
struct frame {
  branch const* of = nullptr;  // null: the root
  std::vector<step> const* steps = nullptr;
  step_path prefix;
  std::vector<step_run> runs;  // runs[i] is steps[i]; the last one is the current one

  frame() = default;
};

enum class ending : std::uint8_t { none, completed, compensated };

struct saga_state {
  definition_ptr definition;
  saga_id id;
  business_key key;
  sequence last;

  json::value input;
  timestamp started_at;
  json::value saga;  // what expressions see as `saga`; null until one of them does
  frame root;
  std::string lock;             // canonical JSON; empty: none
  bool waits_for_lock = false;  // no step has begun
  bool failing = false;         // the forward path is over: settle, then undo
  bool paused = false;
  bool pivot_sent = false;  // from here on neither deadline nor cancel acts
  bool committed = false;   // the pivot is done: only forward from here
  bool parked = false;      // the saga itself, by the runtime
  ending end = ending::none;
  std::uint32_t parked_steps = 0;
  std::optional<timestamp> deadline_due;
  std::string cause;
  std::string output;
  std::size_t output_bytes = 0;  // of all answers kept
};

// How long something is retried before a person is told.
inline constexpr duration slow_after = std::chrono::minutes{10};
// A lock's value as canonical JSON, in bytes.
inline constexpr std::size_t lock_bytes_max = 1024;
// Texts from outside are cut at this many bytes; a cause, which quotes one, at twice as many.
inline constexpr std::size_t error_text_max = 2048;
inline constexpr std::size_t cause_text_max = 2 * error_text_max;
// Answers that one saga may hold for its later steps, all together, in bytes.
inline constexpr std::size_t output_bytes_max = 64 * 1024 * 1024;
// A last output's key as JSON text, in bytes: part of a primary key in the store.
inline constexpr std::size_t output_key_max = 1024;

// From a step's frame up to the root: where an event's path leads.
struct location {
  frame* in = nullptr;
  step_run* run = nullptr;
};

// One application of one event.
class turn {
 public:
  turn(saga_state& of, event const& cause, std::vector<command>& out) : state_(of), event_(cause), out_(out) {}

  void run();

 private:
  // facts.cpp: what the event says
  void on_started();
  void on_succeeded(step_run& run);
  void on_refused(step_run& run);
  void on_attempt_failed(step_run& run);
  void on_timer(step_run* run);
  void on_last_output(step_run& run);
  void on_operator_retry(step_run* run);
  void on_operator_skip(step_run& run);
  void on_operator_complete(step_run& run);

  void action_succeeded(step_run& run);
  void remember_output(step_run const& run);
  void action_refused(step_run& run);
  void action_attempt_failed(step_run& run);
  void step_timed_out(step_run& run);
  void settle_by_operator(step_run& run);
  void settle_parked();
  void go_on_unparked(step_run const* except);
  void fallback_ended(step_run& run, bool found);

  // undo.cpp
  bool drive_undo(frame& of);
  bool undo_step(step_run& run);
  bool undo_branches(step_run& run);
  void begin_compensation(step_run& run);
  void send_compensation(step_run& run);
  void undo_succeeded(step_run& run);
  void undo_refused(step_run& run);
  void undo_attempt_failed(step_run& run);
  void undo_slow(step_run& run);
  void watch_undo(step_run& run, timestamp due);
  void end_undo_watch(step_run& run);
  void park_undo(step_run& run, std::string_view why);

  // forward.cpp: issue what is due
  void drive();
  bool drive_forward(frame& of);
  bool drive_step(step_run& run);
  void begin_step(frame& of);
  void begin_action(step_run& run);
  void begin_parallel(step_run& run);
  void begin_fallback(step_run& run);
  void send_action(step_run& run);
  void emit_action(step_run& run, call_command made);
  void complete();
  void compensated();

  // settle.cpp: how a step or the saga gives up
  void fail(std::string cause);
  void settle_waiting(frame& of);
  void settle_in_flight(step_run& run);
  void give_up(step_run& run, fallback::trigger why, std::string text);
  void step_failed(step_run& run, std::string text);
  void park_step(step_run& run, std::string_view why);
  void unpark_step();
  void retry_later(step_run& run);
  void alert_slow(step_run& run, std::string_view what);
  bool until_done(step_run const& run) const noexcept;
  bool attempts_spent(step_run const& run) const noexcept;

  void arm(timer_kind timer, step_path const& step, operation op, timestamp due);
  void disarm(timer_kind timer, step_path const& step, operation op);
  void end_timers(step_run& run);
  void end_deadline();
  template <class Command>
  void emit(Command made) {
    out_.emplace_back(std::move(made));
  }

  saga_state& state_;
  event const& event_;
  std::vector<command>& out_;
};

// facts.cpp
// Whether the step's timeout ends its action; else somebody is told and it goes on.
bool gives_up_at_timeout(saga_state const& of, step_run const& run) noexcept;

// settle.cpp
std::string cut(std::string_view text, std::size_t limit = error_text_max);
duration backoff(retry_policy const& policy, std::uint32_t attempt_made, std::uint64_t random);
// Known effect or possible effect: what has to be undone.
bool has_effect(step_run const& run) noexcept;

// locate.cpp
step_run* find_run(frame& root, step_path const& path);
template <class Visit>
void for_each_run(frame& of, Visit const& visit) {
  for (auto& run : of.runs) {
    visit(run);
    for (auto& inner : run.branches) for_each_run(inner, visit);
  }
}
template <class Visit>
void for_each_run(frame const& of, Visit const& visit) {
  for (auto const& run : of.runs) {
    visit(run);
    for (auto const& inner : run.branches) for_each_run(inner, visit);
  }
}

// render.cpp: bindings and requests
// What an expression reads of `saga` and `steps`: each is a text to be written and parsed, so only where it is mentioned.
struct mentions {
  bool saga = false;
  bool steps = false;

  mentions() = default;
  explicit mentions(expr::program const& in) noexcept { look_into(in); }
  explicit mentions(value_template const& in) noexcept { look_into(in); }

 private:
  void look_into(expr::program const& in) noexcept;
  void look_into(value_template const& in) noexcept;
};
expr::bindings bindings_for(saga_state& of, step_path const& at, mentions const& what);
expr::bindings undo_bindings(saga_state& of, step_run const& run, mentions const& what);
result<call_command> make_call(step_run const& run, target const& what, operation op, std::uint32_t number, std::string const& in,
                               duration attempt_timeout, definition const& within);
call_command action_call(step_run const& run, std::uint32_t number, definition const& within);
call_command compensation_call(step_run const& run, definition const& within);
call_command fallback_call(step_run const& run, definition const& within);

// outstanding.cpp
arm_timer_command armed(timer_kind kind, step_path const& step, operation op, timestamp due);
std::vector<command> outstanding_of(saga_state const& of);
std::optional<timestamp> rests_until_of(saga_state const& of);  // what outstanding_of() says, without making the commands

// accept.cpp: whether the event may be applied in this state
bool waits_for(step_run const& run, operation op, attempt n) noexcept;
std::optional<error> refuse(saga_state& of, event const& next);

}  // namespace atone::machine
