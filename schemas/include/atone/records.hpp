// The rows the store keeps beside the journal; grammar of the stored form: schemas/sql.
// Thread rules: plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/event.hpp>
#include <atone/ids.hpp>
#include <atone/time.hpp>

namespace atone {

// Where a saga stands. Stored: values are never reused.
enum class saga_status : std::int16_t {
  running = 1,
  compensating = 2,
  waiting = 3,      // for its lock, which another saga has; nothing of it has been sent
  paused = 4,       // by an operator
  completed = 5,    // end: every effect once
  compensated = 6,  // end: no net effect
  parked = 7,       // needs a person; never dropped, never retried in silence
};
std::string_view name(saga_status status) noexcept;
std::optional<saga_status> parse_saga_status(std::string_view text) noexcept;  // nothing: no such word
// An end: nothing is ever sent again.
constexpr bool is_final(saga_status status) noexcept {
  return status == saga_status::completed || status == saga_status::compensated;
}

// Which definition a saga is bound to for its whole life.
struct definition_ref {
  std::string name;
  definition_version version;
  content_hash hash;

  definition_ref() = default;
  friend bool operator==(definition_ref const&, definition_ref const&) = default;
};

// When what waits for a person or for nothing wakes up: the last second of the year 9999, which every store can keep.
inline constexpr timestamp wakes_never{std::chrono::seconds{253'402'300'799}};

// One saga as listed and looked up; derived from the journal, kept so that lists need no replay.
struct saga_row {
  atone::shard home;
  saga_id id;
  definition_ref definition;
  business_key key;
  saga_status status = saga_status::running;
  timestamp started_at;
  timestamp updated_at;               // when the row was last written, which is not at each event
  std::optional<timestamp> ended_at;  // set when the status is final
  std::string cause;                  // the first cause of a failure, kept to the end; empty: none
  std::string output;                 // JSON of the result once completed; empty before
  std::uint32_t crashes = 0;          // how often in a row a process died while a local handler worked on it
  sequence last;                      // its newest event when the row was written
  // Nothing of it is under way until then but its own timers, the first of which is due then; `wakes_never`: none of those either, so it
  // goes on when somebody asks. Nothing: requests of it may be out, or its wait is a short one. True of the saga as of its newest event.
  std::optional<timestamp> wake_at;

  saga_row() = default;
  friend bool operator==(saga_row const&, saga_row const&) = default;
};

// Where a compensation stands. Stored: values are never reused. `failed`: parked, not given up; `skipped`: by a person.
enum class compensation_status : std::int16_t { pending = 1, success = 2, failed = 3, skipped = 4 };
std::string_view name(compensation_status status) noexcept;

// One operation that undoes something: written pending in the transaction that decides it, before it is sent.
// Key (saga, trace); a success is never overwritten.
struct compensation_entry {
  atone::shard home;
  saga_id saga;
  trace_id trace;
  step_path step;
  operation op = operation::compensate;
  compensation_status status = compensation_status::pending;
  std::uint32_t attempts = 0;
  std::string last_error;
  timestamp created_at;
  timestamp updated_at;

  compensation_entry() = default;
};

// How much it matters. Stored: values are never reused. `page`: a person is needed, a saga waits.
enum class alert_level : std::int16_t { info = 1, warn = 2, page = 3 };
std::string_view name(alert_level level) noexcept;

// Something a person should see. One for each (saga, step, kind): a later one takes its place.
struct alert_row {
  saga_id saga;      // empty: no saga in particular
  step_path step;    // empty: the saga as a whole
  std::string kind;  // "parked", "fallback", "slow" …
  alert_level level = alert_level::warn;
  std::string text;
  timestamp raised_at;

  alert_row() = default;
};

// The last good output of a step, by key: what `fallback: last_output` serves. A later one replaces it.
struct last_output_row {
  std::string saga_name;
  step_path step;
  std::string key;  // JSON text
  saga_id written_by;
  std::string output;  // JSON
  timestamp at;

  last_output_row() = default;
};

// Who did what to a saga under way, kept even when the action was refused.
struct operator_action_row {
  saga_id saga;
  std::string actor;
  std::string action;  // "cancel", "retry" …
  step_path step;
  std::string note;
  std::string outcome;  // "done" or why not
  timestamp at;

  operator_action_row() = default;
};

// A published definition; immutable.
struct definition_row {
  definition_ref ref;
  std::string text;  // the YAML as published
  timestamp published_at;

  definition_row() = default;
};

}  // namespace atone
