// What is journalled: the events of a saga, in order. Replaying them through the machine gives the saga's state, so an
// event carries everything the machine may not read for itself: database time, a random number, and its cause.
//
// Stored form: one row a saga and sequence in table `journal`; enum values below are stored and never reused.
// `event_format` is the version of that form.
// Thread rules: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <atone/ids.hpp>
#include <atone/time.hpp>

namespace atone {

inline constexpr std::int16_t event_format = 1;

// What happened. Stored: values are never reused. Which fields of `event` a kind fills is said beside it.
enum class event_kind : std::int16_t {
  started = 1,              // payload: the input; text: the business key
  step_succeeded = 2,       // step, op, n; payload: the participant's answer, status
  step_refused = 3,         // step, op, n; a final "no": text, payload, status
  attempt_failed = 4,       // step, op, n; transient: `sureness` says whether it may have been done all the same
  timer_fired = 5,          // timer, step
  last_output_found = 6,    // step; payload: the last good output, taken as fallback
  last_output_missing = 7,  // step; there is none, or none young enough
  late_answer = 8,          // step, op, n; came after the machine had stopped waiting: recorded, not used
  cancel_requested = 9,     // text: reason; actor
  pause_requested = 10,     // actor
  resume_requested = 11,    // actor
  operator_retry = 12,      // step; actor
  operator_skip = 13,       // step; text: note; actor
  operator_complete = 14,   // step; payload: the output supplied; text: note; actor
  parked = 15,              // by the runtime: text says why (replay failed, driven at three crashes, rejected data)
  lock_granted = 16,        // text: the lock; it is the saga's own from here to its end: its steps begin
};
std::string_view name(event_kind kind) noexcept;  // "started", "step_succeeded" …

// How sure we are that an attempt without an answer did nothing. Stored: values are never reused.
enum class certainty : std::int16_t {
  none = 0,
  not_done = 1,  // never left, or refused before work (connection refused, 425, 429)
  unknown = 2,   // timeout, lost reply, 5xx: may have been done
};
std::string_view name(certainty sureness) noexcept;

// Which of a saga's timers. Stored: values are never reused.
enum class timer_kind : std::int16_t {
  none = 0,
  retry = 1,         // next attempt of (step, op) is due
  step_timeout = 2,  // the whole step with its retries
  deadline = 3,      // the whole saga; no step
};
std::string_view name(timer_kind timer) noexcept;

// One event of one saga's history. Fields that its kind does not name keep their defaults.
struct event {
  event_kind kind = event_kind::started;
  sequence seq;              // position in the saga; set by the machine's caller, without gaps
  sequence cause;            // the event this one answers: every state change carries its cause
  timestamp at;              // database time
  std::uint64_t random = 0;  // what the machine may draw jitter from
  step_path step;            // empty: the saga itself
  operation op = operation::none;
  attempt n;
  certainty sureness = certainty::none;  // attempt_failed; step_refused: unknown, it had been sent before; timeout: not_done, never left
  timer_kind timer = timer_kind::none;
  std::int32_t status = 0;  // HTTP status, 0 where there was none
  duration retry_after{};   // what the participant asked for (Retry-After), capped by the caller; 0: nothing
  std::string payload;      // bytes from outside, untouched
  std::string text;         // reason, note or key, for people
  std::string actor;        // who asked, for operator events

  event() = default;
  friend bool operator==(event const&, event const&) = default;
};

}  // namespace atone
