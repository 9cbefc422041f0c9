// One thread with a queue of jobs in order. Thread rules: push and stop from any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include <atone/result.hpp>
#include <atone/time.hpp>

namespace atone::library {

// What whoever asks after stop() is told.
inline error stopped_error() {
  return error{errc::unavailable, "the coordinator has been stopped"};
}

class work_queue {
 public:
  work_queue() : thread_([this] { run(); }) {}
  ~work_queue() { stop(); }
  work_queue(work_queue const&) = delete;
  work_queue& operator=(work_queue const&) = delete;

  // False: the queue has been stopped, and the job will not run.
  [[nodiscard]] bool push(std::function<void()> job) {
    {
      std::lock_guard const guard{lock_};
      if (stopping_) return false;
      jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
    return true;
  }

  // Waits inside a job. False: the queue is stopping and its grace is over, so give up.
  bool pause(duration how_long) {
    std::unique_lock guard{lock_};
    if (!stopping_) {
      wake_.wait_for(guard, how_long, [this] { return stopping_; });
      return true;
    }
    auto const left = give_up_at_ - std::chrono::steady_clock::now();
    if (left <= left.zero()) return false;
    nobody_.wait_for(guard, std::min<std::chrono::nanoseconds>(how_long, left));
    return true;
  }

  // Does what is queued, then joins; jobs that wait for something outside give up after the grace. Idempotent.
  void stop(duration grace = duration{0}) {
    {
      std::lock_guard const guard{lock_};
      if (!stopping_) give_up_at_ = std::chrono::steady_clock::now() + grace;
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    for (;;) {
      std::unique_lock guard{lock_};
      wake_.wait(guard, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      auto const job = std::move(jobs_.front());
      jobs_.pop_front();
      guard.unlock();
      job();
    }
  }

  mutable std::mutex lock_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::condition_variable nobody_;  // never notified: a bounded pause while stopping
  std::chrono::steady_clock::time_point give_up_at_{};
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace atone::library
