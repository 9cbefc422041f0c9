// A few threads for what blocks (reading the store, publishing), so that neither the API's nor the coordinator's loop does.
// Thread rules: post() and stop() from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace atone::api {

class worker_pool {
 public:
  worker_pool(std::uint32_t threads, std::size_t queue_max);
  ~worker_pool();
  worker_pool(worker_pool const&) = delete;
  worker_pool& operator=(worker_pool const&) = delete;

  // False: too much waits already, or the pool has stopped.
  bool post(std::function<void()> work);
  // Ends what runs, drops what waits, joins. Idempotent.
  void stop();

 private:
  void run();

  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t queue_max_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace atone::api
