// Requests on their way: HTTP participants behind a gate a service (bounded in flight, breaker), local handlers on a pool.
// A call that waited in a queue leaves only under a lease that stands then. Thread rules: all on the loop's thread, but handlers run on the
// pool.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atone/coordinator.hpp>
#include <atone/http.hpp>

#include "runtime/ports.hpp"

namespace atone::library {

// One call that is under way, by what names it.
struct call_name {
  saga_id saga;
  std::string step;
  operation op = operation::act;

  friend bool operator==(call_name const&, call_name const&) = default;
};
struct call_name_hash {
  std::size_t operator()(call_name const& of) const noexcept {
    return std::hash<saga_id>{}(of.saga) ^ std::hash<std::string>{}(of.step) * 31 ^ static_cast<std::size_t>(of.op);
  }
};

struct http_sender_options {
  duration breaker_open = std::chrono::seconds{1};  // between two looks whether somebody listens again, at most
  std::uint32_t breaker_failures = 5;               // connections refused in a row until it opens
  duration poll_first = std::chrono::seconds{1};    // of a 202 without Retry-After
  duration poll_cap = std::chrono::seconds{30};
  duration poll_limit = std::chrono::hours{24};  // then the attempt's outcome is unknown
  std::string callback_base;
  std::string token_key;
  std::string node;  // empty: not told

  http_sender_options() = default;
};

class http_sender final : public runtime::caller {
 public:
  http_sender(boost::asio::io_context& loop, http_sender_options options, runtime::tenure const& lease);
  ~http_sender() override;

  void send(runtime::outgoing_call what, completion done) override;
  runtime::given_up abandon(saga_id saga, step_path const& step, operation op) override;
  runtime::given_up take_back(saga_id saga, step_path const& step, operation op) override;
  void halt() override;
  // The lease stands again: what waited for it leaves.
  void resume();
  void stop();

 private:
  struct entry;
  struct gate;

  gate& gate_of(runtime::outgoing_call const& what);
  void admit(gate& at);
  void begin(gate& at, std::shared_ptr<entry> one);
  void answered(std::shared_ptr<entry> const& one, http::exchange got);
  void note(gate& at, http::exchange const& got);
  void ring_later(gate& at, duration least);
  void poll_later(std::shared_ptr<entry> const& one, http::response const& accepted);
  void poll(std::shared_ptr<entry> const& one);
  void polled(std::shared_ptr<entry> const& one, http::exchange got);
  void finish(std::shared_ptr<entry> const& one, runtime::call_answer answer);
  void drop(std::shared_ptr<entry> one);
  http::written_request request_of(http::origin const& to, runtime::outgoing_call const& what) const;

  boost::asio::io_context& loop_;
  http_sender_options options_;
  runtime::tenure const& lease_;
  http::client client_;
  bool halted_ = false;
  std::map<std::string, std::unique_ptr<gate>> gates_;  // by address
  std::unordered_map<call_name, std::shared_ptr<entry>, call_name_hash> entries_;
};

class local_sender final : public runtime::caller {
 public:
  local_sender(boost::asio::io_context& loop, std::uint32_t threads, runtime::tenure const& lease);
  ~local_sender() override;

  // Before and while sagas run; calls that waited for this handler go out.
  void handle(std::string name, async_handler function);
  void send(runtime::outgoing_call what, completion done) override;
  runtime::given_up abandon(saga_id saga, step_path const& step, operation op) override;
  runtime::given_up take_back(saga_id saga, step_path const& step, operation op) override;
  bool serves(std::string const& handler) const override { return handlers_.contains(handler); }
  void halt() override;
  // The lease stands again: what waited for it runs.
  void resume();
  // Handlers at work are waited for, and replies that are owed.
  void stop();
  // Whether the caller is one of the handlers' threads.
  bool in_handler() noexcept;
  // What is waited for: handlers nobody has registered.
  std::map<std::string, std::size_t> missing() const;

 private:
  // A call from its sending to its answer. Whoever exchanges `claimed` first has it: the pool to run it, or the loop to take it back.
  struct job {
    runtime::outgoing_call what;
    completion done;
    std::atomic<bool> claimed{false};

    job(runtime::outgoing_call call, completion then) : what(std::move(call)), done(std::move(then)) {}
  };
  class reply_way;
  void run(std::shared_ptr<async_handler const> function, std::shared_ptr<job> of);
  void call(async_handler const& function, std::shared_ptr<job> const& of);
  void forget(job const& of);

  boost::asio::io_context& loop_;
  runtime::tenure const& lease_;
  bool halted_ = false;
  std::vector<std::pair<std::shared_ptr<async_handler const>, std::shared_ptr<job>>> held_back_;  // until the lease stands
  boost::asio::thread_pool pool_;
  std::mutex owed_guard_;
  std::condition_variable owed_changed_;
  std::size_t owed_ = 0;  // replies of handlers that were called; under owed_guard_
  std::map<std::string, std::shared_ptr<async_handler const>, std::less<>> handlers_;
  std::map<std::string, std::deque<std::shared_ptr<job>>, std::less<>> waiting_;
  std::unordered_map<call_name, std::shared_ptr<job>, call_name_hash> jobs_;
};

// To the one or the other, by the request.
class call_router final : public runtime::caller {
 public:
  call_router(http_sender& remote, local_sender& local) : remote_(remote), local_(local) {}
  void send(runtime::outgoing_call what, completion done) override {
    if (std::holds_alternative<local_request_spec>(what.request)) return local_.send(std::move(what), std::move(done));
    remote_.send(std::move(what), std::move(done));
  }
  runtime::given_up abandon(saga_id saga, step_path const& step, operation op) override {
    auto const remote = remote_.abandon(saga, step, op);
    return remote == runtime::given_up::out ? local_.abandon(saga, step, op) : remote;
  }
  runtime::given_up take_back(saga_id saga, step_path const& step, operation op) override {
    auto const remote = remote_.take_back(saga, step, op);
    return remote == runtime::given_up::out ? local_.take_back(saga, step, op) : remote;
  }
  bool serves(std::string const& handler) const override { return local_.serves(handler); }
  void halt() override {
    remote_.halt();
    local_.halt();
  }

 private:
  http_sender& remote_;
  local_sender& local_;
};

// What a status and body mean, by the one table; the status of a callback's report is read as a reply's.
runtime::call_answer answer_of_status(std::int32_t status, std::string body);

// HMAC-SHA256 over (saga, step, op, attempt): what a callback must bring. No row; valid on any node with the same key.
std::string reply_token(std::string const& key, saga_id saga, step_path const& step, operation op, attempt n);
bool same_token(std::string_view left, std::string_view right) noexcept;  // in constant time

}  // namespace atone::library
