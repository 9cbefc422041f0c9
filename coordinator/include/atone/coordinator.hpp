// atone::coordinator: sagas inside your own process, or inside atoned. Opens the store, takes it over, goes on with every
// open saga, and drives new ones until it is destroyed.
//
// Thread rules: every member may be called from any thread, after construction. Handlers run on a pool of `handler_threads` threads;
// callbacks of the async forms and the observer run on the coordinator's one loop thread. There, blocking forms must not be called
// (those that can tell answer `conflict`; stop() and the destructor would wait for themselves), and nothing may be thrown.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/definition.hpp>
#include <atone/journal.hpp>
#include <atone/load.hpp>
#include <atone/machine.hpp>
#include <atone/observer.hpp>
#include <atone/records.hpp>
#include <atone/result.hpp>

namespace atone {

// ---- local handlers ----

// What a local handler is asked: one attempt of one operation of one step. Handed to the handler by reference; copy what must
// outlive it.
class call {
 public:
  call(saga_id saga, step_path step, operation op, attempt n, trace_id key, std::string input)
      : saga_(saga), step_(std::move(step)), op_(op), n_(n), key_(std::move(key)), input_(std::move(input)) {}

  saga_id saga() const noexcept { return saga_; }
  step_path const& step() const noexcept { return step_; }
  operation op() const noexcept { return op_; }
  attempt number() const noexcept { return n_; }                // rises with each retry; the same again after a crash
  std::string const& input() const noexcept { return input_; }  // JSON
  // The same for every attempt of this operation, over restarts too: make the effect unique by it. 32 hex digits.
  std::string const& idempotency_key() const noexcept { return key_.text(); }

 private:
  saga_id saga_;
  step_path step_;
  operation op_;
  attempt n_;
  trace_id key_;
  std::string input_;
};

// What a local handler answers. Made by the four functions below, which say what each kind means.
struct answer {
  // `refused` and `unavailable` promise that nothing was done; where that is not certain, the answer is `unknown`.
  enum class kind_of : std::uint8_t { done, refused, unavailable, unknown };

  kind_of kind = kind_of::done;
  std::string payload = "null";  // JSON, for done
  std::string reason;            // for people, of every other kind

  answer() = default;
  answer(kind_of what, std::string json, std::string why) : kind(what), payload(std::move(json)), reason(std::move(why)) {}
};
answer done(std::string json = "null");  // took effect; `json` is the step's output, checked against its `out`
answer refused(std::string reason);      // a final "no": nothing was done, and this step is not tried again
answer unavailable(std::string reason);  // nothing was done, try again
answer unknown(std::string reason);      // may have been done, try again under the same key

// Blocking is allowed. Called from several pool threads at once, and again for the same operation after a retry or a crash.
// Throwing counts as unknown.
using handler = std::function<answer(call const&)>;
// As a handler, but it answers when it likes, and no thread of the pool is held meanwhile: `reply` is called once, from any thread, within
// the function or after it. What comes after the first answer is dropped. Throwing, and letting go of `reply` without an answer, count as
// unknown.
using async_handler = std::function<void(call const&, std::function<void(answer)> reply)>;

// ---- options ----

// How a coordinator is set up; read once, by coordinator::open().
struct options {
  std::string store = "sqlite:atone.db";  // address, as open_store() reads it: memory:, sqlite:PATH or postgresql://…
  // Who this is among the coordinators on one store; unlike every other's, and the same over restarts: whoever opens the store under
  // the same name takes over from the one before. Empty: the machine's name.
  atone::node_id node;
  std::string address;                      // URL at which other coordinators reach this one's API ("http://10.0.0.1:7070"); may be empty
  duration lease{std::chrono::seconds{2}};  // PostgreSQL: how long without a sign of life until others take over what is driven here
  std::uint32_t handler_threads = 4;        // local handlers that run at the same time; 0 counts as 1
  std::uint32_t open_max = 100'000;         // sagas under way in memory; above it starts are refused as errc::exhausted
  // A saga that has nothing under way but its own timers, none of which is due sooner than this, is in the store alone until then: it
  // takes some 150 bytes of memory, and doesn't count for open_max. So do parked and paused ones; those with a `lock` stay in memory.
  duration rest_least{std::chrono::minutes{1}};
  // Finished sagas are deleted, each with all that is stored under it, once their end lies back that far; 0: never. Parked ones and those
  // under way never are. At least a second. Where several coordinators share a store, give all of them the same.
  duration retention{};
  // Their business keys stay that long, from the same moment: a start under one is answered with the old saga's id. Less than `retention`
  // counts as `retention`.
  duration key_retention{std::chrono::hours{24 * 30}};
  bool migrate = true;                           // bring the store's tables up to date at start; else old ones are a conflict
  std::map<std::string, std::string> addresses;  // service -> URL, instead of the definition's default
  // An address that refuses connections is sent nothing; so often, at least, it is looked at whether somebody listens there again.
  duration breaker_open{std::chrono::seconds{1}};
  duration poll_limit{std::chrono::hours{24}};  // how long work answered by 202 may take; then the attempt's outcome is unknown
  std::string callback_base;                    // URL participants report to ("http://127.0.0.1:7070"); empty: none
  std::string token_key;                        // key of callback tokens; empty: a new one at each start, older tokens die with it

  std::shared_ptr<atone::observer> observer;  // told of what happens; may be null

  options() = default;
  explicit options(std::string where) : store(std::move(where)) {}
};

// ---- what is asked and answered ----

// A wish to start one saga.
struct start_request {
  std::string saga;                           // name of a published definition
  std::optional<definition_version> version;  // nothing: the newest
  business_key key;                           // makes a repeated start harmless; empty: every start makes another saga
  std::string input = "{}";                   // JSON, checked against the definition's schema

  start_request() = default;
};

// The answer to a start, told once the start is durable.
struct started {
  saga_id id;
  bool replayed = false;  // the same key and body had been started before: this is that saga
  bool gone = false;      // and it has ended, and was deleted after its retention: no more than this can be said of it

  started() = default;
};

// A saga as it stands: what is told is durable.
struct saga_view {
  saga_row row;
  saga_id lock_holder;            // who has its lock, itself or whom it waits for; empty: not known, as of sagas that are not under way
  std::string lock;               // the value of its `lock` as canonical JSON; empty: none
  std::vector<step_view> steps;   // reached ones; empty when the history can't be replayed by the definition published here
  std::vector<step_path> parked;  // steps that wait for a person; empty too when the saga itself is parked

  saga_view();
  ~saga_view();
  saga_view(saga_view const&);
  saga_view& operator=(saga_view const&);
  saga_view(saga_view&&) noexcept;
  saga_view& operator=(saga_view&&) noexcept;
  bool completed() const noexcept { return row.status == saga_status::completed; }
  bool ended() const noexcept { return is_final(row.status); }  // completed or compensated; false while parked
};

// What a person asks of one saga.
struct operator_request {
  // cancel: compensate, allowed until the pivot is sent. pause: no new requests, answers are still taken; resume ends it.
  // retry: of a parked step, of one that waits for its next attempt (at once), or, with no step parked, of a parked saga.
  // skip: a parked step is left without effect, or its compensation left undone. complete: a parked step counts as done with `output`.
  enum class action_kind : std::uint8_t { cancel, pause, resume, retry, skip, complete };

  action_kind action = action_kind::cancel;
  saga_id saga;
  step_path step;      // retry, skip, complete: which parked step; empty: the only parked one
  std::string actor;   // who asks; kept with the saga
  std::string note;    // required for skip and complete; for cancel the reason
  std::string output;  // JSON, for complete; empty: null

  operator_request() = default;
};
std::string_view name(operator_request::action_kind of) noexcept;  // "cancel", "pause" …

// Counters of one coordinator since it was opened; `open`, `calls_in_flight` and `queue` are what stands now.
struct engine_figures {
  std::uint64_t open = 0;                                                 // sagas under way, parked ones included
  std::uint64_t resting = 0;                                              // of them, those that wait long and are in the store alone
  std::uint64_t started = 0, completed = 0, compensated = 0, parked = 0;  // parked: how often, not how many are now
  std::uint64_t events = 0, commits = 0;                                  // commits: batches that held events
  // calls: requests to participants and local handlers, each attempt counted. late_answers: nobody waited for them any more.
  std::uint64_t calls = 0, calls_in_flight = 0, late_answers = 0;
  std::uint64_t queue = 0;  // records waiting for their commit
  bool writable = false;    // the last write succeeded and this process owns the store

  engine_figures() = default;
};

// What is kept for how long, and what was deleted by one coordinator since it was opened.
struct retention_figures {
  duration sagas{};  // as set; 0: for ever
  duration keys{};
  std::uint64_t deleted_sagas = 0, deleted_keys = 0;
  std::uint64_t passes = 0;  // times that everything driven here was looked through to the end
  duration lag{};            // for how long the oldest one deleted last should have been gone; 0 after a pass

  retention_figures() = default;
};

// Who drives a saga.
struct driver {
  node_id node;
  std::string address;  // its options::address
  bool here = false;    // this coordinator

  driver() = default;
};

// One coordinator of those that share the store, as this one saw it last.
struct node_view {
  node_id node;
  std::string address;
  bool alive = false;       // drives its shards; false: it has left, or was fenced
  bool here = false;        // this coordinator
  std::size_t shards = 0;   // that it drives
  duration clock_offset{};  // of `here`: how far the machine's wall clock is before the database's

  node_view() = default;
};

// Drives sagas of one store: all of them, or, where several coordinators share it (PostgreSQL), those of the shards whose leases it holds.
// Starting and reading work on each of them; act() and reports belong to the one that drives the saga. It owns its threads, and must
// outlive every callback that it was given.
class coordinator {
 public:
  // Opens the store, takes it over and loads what is open; blocks meanwhile. From here on whoever drove the store before is fenced.
  // Expected failures are returned, not thrown: invalid_argument and unsupported (address), unavailable, conflict (another process
  // holds the SQLite file; tables of another version without `migrate`), and whatever else the store says. Nothing is sent before run().
  static result<std::unique_ptr<coordinator>> open(options with);
  ~coordinator();  // stops as stop() does
  coordinator(coordinator const&) = delete;
  coordinator& operator=(coordinator const&) = delete;

  // Binds `services: X: {local: GROUP}` calls `X NAME` to a function; the last one bound under a name counts. Best before run():
  // calls whose handler is missing wait until it is bound, and after ten seconds an alert says so.
  void handle(std::string_view group, std::string_view name, handler function);
  void handle_async(std::string_view group, std::string_view name, async_handler function);
  // Begins to drive sagas: recovered ones go on, new ones are accepted. Idempotent. Once driving has ended
  // (observer::stopped_driving) it does not begin again: open another coordinator. Errors: unavailable after stop().
  result<void> run();
  // No new work; answers that arrive within `grace` are still journalled; returns when all threads are joined. Local handlers that run,
  // and replies that are owed, are waited for, however long they take. Nothing is lost: what is open goes on at the next start. Whoever
  // still waits is told `unavailable`. Idempotent. Called from a handler or from a callback it would wait for itself: that aborts. After it
  // blocking and asynchronous forms answer `unavailable`, the latter on the caller's thread.
  void stop(duration grace = std::chrono::seconds{5});

  // ---- definitions ----
  // What publishing made of a text.
  struct published {
    definition_ref ref;
    std::vector<diagnostic> diagnostics;  // warnings

    published() = default;
  };
  // Stores a definition and makes it startable at once; the same content again is a success. Blocks; waits behind a commit that the
  // store holds up. Mistakes are errc::invalid_argument with all of them in the message; another content under a known version is
  // errc::conflict; unavailable: the store was not reached, publish again.
  result<published> publish(std::string_view yaml);
  result<published> publish_file(std::string const& path);  // also not_found: the file can't be read

  // ---- sagas: blocking; all answer `unavailable` once the coordinator has stopped ----
  // Answers when the start is durable, not when the saga has ended. Idempotent by (saga name, key): the same key with equal input gives
  // the saga that is there. Errors: not_found (no such definition), invalid_argument (input, shard key), conflict (the key was used
  // with other input), exhausted (open_max), unavailable (not running), fenced.
  result<started> start(start_request what);
  // Until it ended or is parked, or `timeout` passed: the view says which. A timeout is no error, and changes nothing for the saga.
  // Errors: not_found; unavailable or fenced when this coordinator stops driving meanwhile.
  result<saga_view> wait(saga_id id, duration timeout);
  // start and wait for its end (or parking). Whether it completed is for the caller to read from the view.
  result<saga_view> run(std::string_view saga, business_key key, std::string input, duration timeout = std::chrono::hours{1});
  // How it stands now, under way or ended. Errors: not_found (deleted ones too: the message says where that may be so); what the store
  // says.
  result<saga_view> get(saga_id id);
  // An operator's action, and how the saga stands after it. What is refused of a saga under way is recorded too. Errors: conflict
  // (the state does not allow it, or the saga has ended), invalid_argument (note missing, several steps parked, output not JSON),
  // not_found (saga or step), elsewhere (another coordinator drives it: async_driver_of), unavailable.
  result<saga_view> act(operator_request what);

  // ---- sagas: by callback, called once from the coordinator's loop thread; it must neither block nor throw. Meanings and errors are
  // those of the blocking forms. There is no cancelling. ----
  void async_start(start_request what, std::function<void(result<started>)> then);
  void async_wait(saga_id id, duration timeout, std::function<void(result<saga_view>)> then);
  void async_get(saga_id id, std::function<void(result<saga_view>)> then);
  void async_act(operator_request what, std::function<void(result<saga_view>)> then);
  // A report from a participant to its callback address. `token` must be the one that went out with the call; `status` and `body` are
  // read as an HTTP answer would be. Told once it is durable. Errors: invalid_argument (token), conflict (nobody waits for this
  // attempt: recorded as late), not_found (saga not under way, or step not reached), elsewhere (another coordinator drives it),
  // unavailable.
  void async_report(saga_id id, step_path step, operation op, attempt n, std::string token, std::int32_t status, std::string body,
                    std::function<void(result<void>)> then);

  // ---- several coordinators on one store ----
  // Who drives a saga. Errors: not_found; unavailable (the store; or the saga is on its way between two coordinators).
  void async_driver_of(saga_id id, std::function<void(result<driver>)> then);
  // Everybody who shares the store, by the last look at it (some 250 ms ago at most). Blocks for a turn of the loop.
  result<std::vector<node_view>> nodes() const;

  // ---- reading (own connection, own thread) ----
  // Runs `work` with a reader, on the reader's thread; blocks the caller and gives back what `work` returned. Reads take turns: `work`
  // must not call read() again. Errors also: unavailable (store, or stopped).
  result<void> read(std::function<result<void>(journal_reader&)> const& work);
  // Blocks for a turn of the loop; all zero after stop() or from the loop thread itself.
  engine_figures figures() const;
  // Never blocks.
  retention_figures deletions() const;
  // A write through to the store, for readiness. Errors: fenced; unavailable, also when nothing has gone through for two seconds.
  result<void> check_writable();
  std::string store_description() const;  // for people and logs, without a password

 private:
  struct impl;
  explicit coordinator(std::unique_ptr<impl> of);
  std::unique_ptr<impl> impl_;
};

}  // namespace atone
