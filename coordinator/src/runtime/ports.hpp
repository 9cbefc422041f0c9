// What the engine needs of the world, as ports: the coordinator stands threads and sockets behind them, the simulator stands
// virtual time behind them. The engine is single-threaded: every callback comes back on its thread, and never from inside the call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <atone/environment.hpp>
#include <atone/journal.hpp>
#include <atone/machine.hpp>

namespace atone::runtime {

// One request on its way to a participant.
struct outgoing_call {
  saga_id saga;
  step_path step;
  operation op = operation::act;
  attempt n;
  atone::epoch epoch;
  trace_id key;         // the same for every attempt
  std::string service;  // as the definition names it
  std::string address;  // where it is now
  std::uint32_t in_flight_max = 256;
  std::variant<http_request_spec, local_request_spec, sql_request_spec> request;
  duration attempt_timeout{};

  outgoing_call() = default;
};

// What came of it, by the one table (participant_protocol.hpp).
struct call_answer {
  enum class kind_of : std::uint8_t { done, refused, failed };

  kind_of kind = kind_of::failed;
  certainty sureness = certainty::unknown;  // for failed
  std::int32_t status = 0;
  std::string payload;
  std::string text;
  duration retry_after{};

  call_answer() = default;
};

// What became of a call that is given up. `never_left`: dropped before it left, surely not done. `dropped`: it had left, and no answer
// will come any more. `out`: an answer may still come (or there was no such call).
enum class given_up : std::uint8_t { never_left, dropped, out };

// Sends requests to participants. Exactly one answer for each send, unless it was taken back, dropped or halted.
class caller {
 public:
  using completion = std::function<void(call_answer)>;
  virtual ~caller() = default;
  virtual void send(outgoing_call what, completion done) = 0;
  // Nobody waits for its answer any more.
  virtual given_up abandon(saga_id saga, step_path const& step, operation op) = 0;
  // Only if it has not left: never_left or out.
  virtual given_up take_back(saga_id saga, step_path const& step, operation op) = 0;
  // Whether a local handler of this name is there to be called now; engine::handlers_changed() tells when that may have changed.
  virtual bool serves(std::string const& handler) const {
    static_cast<void>(handler);
    return true;
  }
  // Nothing leaves any more, and no answer is brought any more: another coordinator is the owner, or this one ends.
  virtual void halt() = 0;
};

// Commits batches in the order they are given; repeats while the store is unavailable. Errors mean that this process must stop
// driving: fenced, corrupt, internal; or it is being stopped (unavailable).
class batch_writer {
 public:
  using completion = std::function<void(result<isolating_report>)>;
  virtual ~batch_writer() = default;
  virtual void commit(journal_batch batch, completion done) = 0;

  // Runs the statement and what `on_success` makes of its answer in one transaction; `on_success` runs on the writer's thread.
  struct sql_outcome {
    std::optional<std::string> answer;  // nothing: the statement failed, and nothing was written
    std::string refusal;
    bool may_pass = false;  // a lock, a limit of time, a resource: to be tried again by the step's own policy
    timestamp at;

    sql_outcome() = default;
  };
  using sql_completion = std::function<void(result<sql_outcome>)>;
  virtual void commit_sql(sql_statement statement, journal::answer_to_batch on_success, sql_completion done) = 0;
};

// A saga that is in the store alone, and when it goes on (saga_row::wake_at).
struct resting_saga {
  saga_place place;
  timestamp wake_at;
  timestamp written_at;
  bool parked = false;

  resting_saga() = default;
  explicit resting_saga(saga_row const& row)
      : place(row.home, row.id),
        wake_at(row.wake_at.value_or(wakes_never)),
        written_at(row.updated_at),
        parked(row.status == saga_status::parked) {}
};

// What a take-over has read; of those that rest no more is kept than that.
struct loaded_sagas {
  std::vector<open_saga> open;
  std::vector<resting_saga> resting;

  loaded_sagas() = default;
  void add(open_saga&& one) {
    if (one.row.wake_at) {
      resting.emplace_back(one.row);
    } else {
      open.push_back(std::move(one));
    }
  }
};

// Reads that must not block the engine. An outage is waited out; an error is one that no repeating mends (corrupt), or the stop.
class store_lookup {
 public:
  virtual ~store_lookup() = default;
  virtual void last_output(std::string saga_name, step_path step, std::string key,
                           std::function<void(result<std::optional<last_output_row>>)> then) = 0;
  // Who holds a business key, and the hash of the input it was started with.
  struct key_holder {
    saga_id saga;
    content_hash body;

    key_holder() = default;
  };
  // Asked once: an outage is an error here, since somebody waits for the answer.
  virtual void holder_of(std::string saga_name, business_key key, std::function<void(result<std::optional<key_holder>>)> then) = 0;
  // A saga with its history, for going on with it after its memory was dropped.
  virtual void reload(saga_id saga, std::function<void(result<std::optional<open_saga>>)> then) = 0;
  // Those of these that are there, with their histories: they rested, and go on.
  virtual void load(std::vector<saga_place> which, std::function<void(result<std::vector<open_saga>>)> then) = 0;
};

// Whether what this coordinator drives is surely its own still. Asked before each request leaves; a store with one coordinator at a time
// says so by refusing writes, and always answers true here.
class tenure {
 public:
  virtual ~tenure() = default;
  virtual bool holds() const { return true; }
  // Nothing is driven here any more: what this coordinator had may be another's at once.
  virtual void resign() {}
};

// The engine's own turn and its one alarm.
class scheduler {
 public:
  virtual ~scheduler() = default;
  virtual void defer(std::function<void()> work) = 0;      // after what runs now
  virtual void wake_at(std::optional<timestamp> due) = 0;  // calls engine::on_wake then; replaces the alarm before
};

// What happens, for metrics and logs; one method a happening.
class probe {
 public:
  virtual ~probe() = default;
  virtual void saga_started(saga_row const&) {}
  virtual void saga_ended(saga_row const&) {}
  virtual void saga_parked(saga_row const&) {}
  virtual void alerted(alert_row const&) {}
  virtual void call_sent(outgoing_call const&) {}
  virtual void call_answered(saga_id, step_path const&, operation, attempt, call_answer const&) {}
  virtual void answer_late(saga_id, step_path const&, operation, attempt) {}
  virtual void committed(std::size_t /*records*/) {}
  virtual void stopped_driving(error const&) {}
};

}  // namespace atone::runtime
