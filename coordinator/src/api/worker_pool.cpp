#include "api/worker_pool.hpp"

#include <algorithm>

namespace atone::api {

worker_pool::worker_pool(std::uint32_t threads, std::size_t queue_max) : queue_max_(queue_max) {
  for (std::uint32_t n = 0; n < std::max<std::uint32_t>(1, threads); ++n) threads_.emplace_back([this] { run(); });
}

worker_pool::~worker_pool() {
  stop();
}

bool worker_pool::post(std::function<void()> work) {
  std::lock_guard const lock{guard_};
  if (stopped_ || waiting_.size() >= queue_max_) return false;
  waiting_.push_back(std::move(work));
  changed_.notify_one();
  return true;
}

void worker_pool::run() {
  std::unique_lock lock{guard_};
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    auto const work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

void worker_pool::stop() {
  {
    std::lock_guard const lock{guard_};
    stopped_ = true;
    changed_.notify_all();
  }
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  std::deque<std::function<void()>> dropped;
  std::lock_guard const lock{guard_};
  dropped.swap(waiting_);
}

}  // namespace atone::api
