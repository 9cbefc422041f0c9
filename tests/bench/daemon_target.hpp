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

class daemon_target final : public target {
 public:
  daemon_target(stage& on, place const& in, bool refused, bool keys);
  ~daemon_target() override;

  void run_saga(work_item what, done then) override;
  std::string first_failure() const override;
  pid_t pid() const noexcept { return process_.pid(); }

 private:
  std::string wait_until_it_listens(std::string const& log);
  void publish(std::string const& definition);
  outcome judge(atone::http::exchange const& of);

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
