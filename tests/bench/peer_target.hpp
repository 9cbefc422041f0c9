// Another engine, in processes of its own and over HTTP: one request a saga, answered with its result, as daemon_target asks Atone's.
// Thread rules: as target's; the rest on the main thread.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atone/http.hpp>

#include "child.hpp"
#include "target.hpp"
#include "usage.hpp"

namespace bench {

// A process of the engine, under the name its CPU time is reported by; several may share one.
struct server_process {
  std::string part;
  child process;

  server_process() = default;
  server_process(std::string called, child running) : part(std::move(called)), process(std::move(running)) {}
};

// Where a saga is started by POST, with its input as JSON.
struct endpoint {
  atone::http::origin at;
  std::string path;

  endpoint() = default;
  endpoint(std::string const& url, std::string to);  // throws when the URL can't be one
};

// Something that has been started and takes sagas.
struct served {
  std::vector<server_process> processes;  // stopped in this order
  std::vector<endpoint> endpoints;        // sagas go to each in turn
  std::uint32_t connections = 1024;       // of the load, at most
  std::string wanted;                     // what the answer of a saga that ended as it should contains

  served() = default;
};

// Waits until the program has written "listening on ADDRESS" to its log, and says ADDRESS. Throws with the log when it ended before
// that or takes too long; `what` names it.
std::string announced_address(waiter const& clock, child& process, std::string const& log, std::string const& what);

class peer_target final : public target {
 public:
  peer_target(waiter const& clock, served of);
  ~peer_target() override;  // stops the processes

  void run_saga(work_item what, done then) override;
  std::string first_failure() const override;
  // Part -> CPU time so far.
  std::map<std::string, cpu_time> cpu() const;

 private:
  outcome judge(atone::http::exchange const& of);

  waiter const& clock_;
  served of_;
  std::size_t turn_ = 0;  // on the thread below
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  atone::http::client client_;
  std::thread thread_;
  mutable std::mutex lock_;
  std::string first_failure_;
};

}  // namespace bench
