// An open loop of starts: so many a second, whatever becomes of those before, each under a business key of its own, over all doors in
// turn. A start that was not acknowledged is repeated under its key at the next door until it is.
// Thread rules: any thread; its client has one of its own.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atone/http.hpp>

#include "pace.hpp"

namespace atone::test {

class load {
 public:
  // Definitions by name; the n-th start is of the n-th of them, in turn.
  load(std::vector<std::string> sagas, int starts_a_second);
  ~load();
  load(load const&) = delete;
  load& operator=(load const&) = delete;

  // Where starts go from here on: URLs of daemons.
  void doors(std::vector<std::string> const& urls);
  void begin();
  // No new starts; true once all that were begun are acknowledged.
  bool end(span at_most);

  // Ids by number, as acknowledged.
  std::map<long, std::string> acknowledged() const;
  moment last_acknowledgement() const;
  // Answers that no start should get: another id for the same key, a refusal.
  std::vector<std::string> faults() const;

 private:
  void tick();
  void start(long number);
  void answered(long number, http::exchange const& got);
  void again(long number);

  std::vector<std::string> const sagas_;
  std::chrono::microseconds const pause_;
  mutable std::mutex lock_;
  mutable std::condition_variable told_;
  std::vector<http::origin> doors_;
  std::size_t next_door_ = 0;
  std::set<long> open_;
  std::map<long, std::string> acknowledged_;
  moment last_acknowledgement_{};
  std::vector<std::string> faults_;
  bool starting_ = false;
  long next_ = 0;  // of the loop's thread, as what follows
  moment due_{};
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  http::client client_;
  boost::asio::steady_timer timer_{io_};
  std::thread thread_;
};

}  // namespace atone::test
