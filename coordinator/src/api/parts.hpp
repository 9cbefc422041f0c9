// What handlers work with. Thread rules: as of the members.
#pragma once

#include <functional>
#include <mutex>
#include <unordered_set>
#include <utility>

#include <atone/coordinator.hpp>

#include "api/forwarder.hpp"
#include "api/metrics.hpp"
#include "api/parameters.hpp"
#include "api/problem.hpp"
#include "api/routes.hpp"
#include "api/service.hpp"
#include "api/worker_pool.hpp"

namespace atone::api {

// Calls that wait for a saga's end; a stopping daemon does not make them wait on.
class waiting_calls {
 public:
  // False: the daemon stops, nobody waits any more.
  bool add(call_ptr const& of) {
    std::lock_guard const lock{guard_};
    return !closed_ && waiting_.insert(of).second;
  }
  void remove(call_ptr const& of) {
    std::lock_guard const lock{guard_};
    waiting_.erase(of);
  }
  std::unordered_set<call_ptr> close() {
    std::lock_guard const lock{guard_};
    closed_ = true;
    return std::exchange(waiting_, {});
  }

 private:
  std::mutex guard_;
  std::unordered_set<call_ptr> waiting_;
  bool closed_ = false;
};

struct parts {
  coordinator& sagas;
  service_options options;
  api::metrics metrics;
  worker_pool workers;
  waiting_calls waiting;
  forwarder forwards;

  parts(coordinator& of, service_options with)
      : sagas(of),
        options(std::move(with)),
        metrics(options.version),
        workers(options.workers, options.queue_max),
        forwards(of, options.forward, metrics) {}

  // Runs `work` on a thread that may block; its result is the answer.
  void in_background(call_ptr const& of, std::function<http::response()> work) {
    bool const taken = workers.post([of, work = std::move(work)] { of->send(work()); });
    if (!taken) of->send(answer_of(problem{503, "unavailable", "too many requests wait for the store; try again"}));
  }
};

inline http::response json_response(std::string body, std::int32_t status = 200) {
  return {status, std::move(body)};
}

// Reads the store on a worker: `work` gives the answer, or an error.
using read_work = std::function<result<http::response>(journal_reader&)>;
void read_in_background(parts& in, call_ptr const& of, read_work work);

}  // namespace atone::api
