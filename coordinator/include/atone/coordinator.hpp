// atone::coordinator: sagas inside your own process, or inside atoned. Opens the store, takes it over, goes on with every
// open saga, and drives new ones until it is destroyed.
//
// Thread rules: every member may be called from any thread, after construction. Handlers run on a pool of `handler_threads` threads.
// Blocking forms must not be called from inside a handler's callback of an async form.
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

// What a local handler is asked.
class call {
 public:
  call(saga_id saga, step_path step, operation op, attempt n, trace_id key, std::string input)
      : saga_(saga), step_(std::move(step)), op_(op), n_(n), key_(std::move(key)), input_(std::move(input)) {}

  saga_id saga() const noexcept { return saga_; }
  step_path const& step() const noexcept { return step_; }
  operation op() const noexcept { return op_; }
  attempt number() const noexcept { return n_; }
  std::string const& input() const noexcept { return input_; }  // JSON
  // The same for every attempt of this operation: make the effect unique by it.
  std::string const& idempotency_key() const noexcept { return key_.text(); }

 private:
  saga_id saga_;
  step_path step_;
  operation op_;
  attempt n_;
  trace_id key_;
  std::string input_;
};

// What a local handler answers.
struct answer {
  enum class kind_of : std::uint8_t { done, refused, unavailable, unknown };

  kind_of kind = kind_of::done;
  std::string payload = "null";  // JSON, for done
  std::string reason;            // for people, otherwise

  answer() = default;
  answer(kind_of what, std::string json, std::string why) : kind(what), payload(std::move(json)), reason(std::move(why)) {}
};
answer done(std::string json = "null");
answer refused(std::string reason);      // a final "no": nothing was done
answer unavailable(std::string reason);  // nothing was done, try again
answer unknown(std::string reason);      // may have been done, try again under the same key

// Throwing counts as unknown.
using handler = std::function<answer(call const&)>;

// ---- options ----

struct options {
  std::string store = "sqlite:atone.db";
  atone::node_id node{"node"};
  std::uint32_t handler_threads = 4;
  std::uint32_t open_max = 100'000;              // sagas under way; above it starts are refused as errc::exhausted
  bool migrate = true;                           // bring the store's tables up to date at start
  std::map<std::string, std::string> addresses;  // service -> URL, instead of the definition's default
  duration breaker_open{std::chrono::seconds{5}};
  std::string callback_base;  // URL participants report to ("http://127.0.0.1:7070"); empty: none
  std::string token_key;      // key of callback tokens; empty: a new one at each start, older tokens die with it

  std::shared_ptr<atone::observer> observer;  // told of what happens; may be null

  options() = default;
  explicit options(std::string where) : store(std::move(where)) {}
};

// ---- what is asked and answered ----

struct start_request {
  std::string saga;                           // name of a published definition
  std::optional<definition_version> version;  // nothing: the newest
  business_key key;
  std::string input = "{}";  // JSON

  start_request() = default;
};

struct started {
  saga_id id;
  bool replayed = false;  // the same key and body had been started before: this is that saga

  started() = default;
};

// A saga as it stands.
struct saga_view {
  saga_row row;
  std::vector<step_view> steps;  // filled while it is open here, or rebuilt from its history
  std::vector<step_path> parked;

  saga_view() = default;
  bool completed() const noexcept { return row.status == saga_status::completed; }
  bool ended() const noexcept { return is_final(row.status); }
};

struct operator_request {
  enum class action_kind : std::uint8_t { cancel, pause, resume, retry, skip, complete };

  action_kind action = action_kind::cancel;
  saga_id saga;
  step_path step;      // retry, skip, complete: which parked step; empty: the only parked one
  std::string actor;   // who asks
  std::string note;    // required for skip and complete
  std::string output;  // JSON, for complete

  operator_request() = default;
};
std::string_view name(operator_request::action_kind of) noexcept;

struct engine_figures {
  std::uint64_t open = 0;  // sagas under way in memory
  std::uint64_t started = 0, completed = 0, compensated = 0, parked = 0;
  std::uint64_t events = 0, commits = 0;
  std::uint64_t calls = 0, calls_in_flight = 0, late_answers = 0;
  std::uint64_t queue = 0;  // records waiting for their commit
  bool writable = false;    // the last write succeeded and this process owns the store

  engine_figures() = default;
};

class coordinator {
 public:
  // Opens and takes over; throws nothing. Definitions that open sagas need are loaded from the store. Handlers must be registered
  // before `run()`: sagas whose handlers are missing wait, and an alert says so.
  static result<std::unique_ptr<coordinator>> open(options with);
  ~coordinator();  // stops as stop() does
  coordinator(coordinator const&) = delete;
  coordinator& operator=(coordinator const&) = delete;

  // Binds `services: X: {local: GROUP}` calls `X NAME` to a function.
  void handle(std::string_view group, std::string_view name, handler function);
  // Begins to drive sagas (recovered ones first). Idempotent.
  result<void> run();
  // No new work; answers that arrive within `grace` are still journalled; returns when all threads are joined. Nothing is lost: what is
  // open goes on at the next start.
  void stop(duration grace = std::chrono::seconds{5});

  // ---- definitions ----
  struct published {
    definition_ref ref;
    std::vector<diagnostic> diagnostics;  // warnings

    published() = default;
  };
  // Mistakes are errc::invalid_argument with all of them in the message; another content under a known version is errc::conflict.
  result<published> publish(std::string_view yaml);
  result<published> publish_file(std::string const& path);

  // ---- sagas: blocking ----
  result<started> start(start_request what);
  // Until it ended or is parked, or `timeout` passed: the view says which.
  result<saga_view> wait(saga_id id, duration timeout);
  // start and wait for its end (or parking).
  result<saga_view> run(std::string_view saga, business_key key, std::string input, duration timeout = std::chrono::hours{1});
  result<saga_view> get(saga_id id);
  result<saga_view> act(operator_request what);

  // ---- sagas: by callback, called once from the coordinator's loop thread; it must not block ----
  void async_start(start_request what, std::function<void(result<started>)> then);
  void async_wait(saga_id id, duration timeout, std::function<void(result<saga_view>)> then);
  void async_get(saga_id id, std::function<void(result<saga_view>)> then);
  void async_act(operator_request what, std::function<void(result<saga_view>)> then);
  // A report from a participant to its callback address. `token` must be the one that went out with the call.
  void async_report(saga_id id, step_path step, operation op, attempt n, std::string token, std::int32_t status, std::string body,
                    std::function<void(result<void>)> then);

  // ---- reading (own connection, own thread) ----
  // Runs `work` with a reader; blocks the caller.
  result<void> read(std::function<result<void>(journal_reader&)> const& work);
  engine_figures figures() const;
  // A write through to the store, for readiness.
  result<void> check_writable();
  std::string store_description() const;

 private:
  struct impl;
  explicit coordinator(std::unique_ptr<impl> of);
  std::unique_ptr<impl> impl_;
};

}  // namespace atone
