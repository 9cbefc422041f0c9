// The coordinator as atoned, over HTTP: one request a saga, answered with its result. The daemon is started and stopped here.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atone/http.hpp>

#include "child.hpp"
#include "stage.hpp"
#include "target.hpp"

namespace bench {

// What the daemon says of itself, and what the kernel says of its process.
struct daemon_figures {
  std::uint64_t open = 0;
  std::uint64_t completed = 0;
  std::uint64_t resident_bytes = 0;

  daemon_figures() = default;
};

class daemon_target final : public target {
 public:
  daemon_target(stage& on, place const& in, bool refused, bool keys);
  ~daemon_target() override;

  void run_saga(work_item what, done then) override;
  // Starts it and does not wait: `ended` once the start is durable. Turned away counts only with Retry-After.
  void start_saga(work_item what, done then);
  std::string first_failure() const override;
  // From any thread; blocks.
  daemon_figures figures() const;
  // On the thread that brings the answers.
  void on_thread(std::function<void()> what);
  pid_t pid() const noexcept { return process_.pid(); }

 private:
  std::string wait_until_it_listens(std::string const& log);
  void publish(std::string const& definition);
  outcome judge(atone::http::exchange const& of, bool started_alone);
  void ask(work_item what, std::string const& query, done then);

  waiter const& clock_;
  std::string path_;
  std::string wanted_;  // what the answer's status is written as
  bool keys_;
  child process_;
  atone::http::origin origin_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  atone::http::client client_;
  std::thread thread_;
  mutable std::mutex lock_;
  std::string first_failure_;
};

}  // namespace bench
