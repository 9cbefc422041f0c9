#include "service/scheduler.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace atone::features {

bool job_queue::push(feature_job& job) {
  std::lock_guard const guard{guard_};
  if (closed_ || waiting_.size() >= waiting_max_) return false;
  waiting_rows_ += job.rows;
  waiting_.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

bool job_queue::push_behind(feature_job& job) {
  std::lock_guard const guard{guard_};
  if (closed_ || behind_.size() >= behind_max_) return false;
  behind_.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

bool job_queue::is_caught_up() const {
  std::lock_guard const guard{guard_};
  return behind_.empty();
}

bool job_queue::is_full() const {
  return waiting_.size() >= requests_ || waiting_rows_ >= rows_;
}

std::vector<feature_job> job_queue::take(std::optional<std::chrono::steady_clock::time_point> until, std::function<bool()> const& at_work) {
  std::unique_lock guard{guard_};
  auto const begins = [this] { return closed_ || interrupted_ || !waiting_.empty() || !behind_.empty(); };
  until ? static_cast<void>(changed_.wait_until(guard, *until, begins)) : changed_.wait(guard, begins);
  // `at_work` asks others who may be calling wake(): it never calls back.
  changed_.wait_for(guard, waiting_.empty() ? duration{} : wait_, [&] { return closed_ || is_full() || !at_work(); });
  std::vector<feature_job> batch;
  if (closed_) return batch;
  std::uint64_t rows = 0;
  take_from(waiting_, batch, rows);
  waiting_rows_ -= rows;
  take_from(behind_, batch, rows);
  return batch;
}

void job_queue::take_from(std::deque<feature_job>& waiting, std::vector<feature_job>& batch, std::uint64_t& rows) {
  while (!waiting.empty() && batch.size() < requests_) {
    auto& next = waiting.front();
    if (!batch.empty() && (next.is_undo != batch.front().is_undo || rows + next.rows > rows_)) break;
    rows += next.rows;
    batch.push_back(std::move(next));
    waiting.pop_front();
  }
}

void job_queue::wake() {
  std::lock_guard const guard{guard_};
  changed_.notify_one();
}

void job_queue::interrupt() {
  std::lock_guard const guard{guard_};
  interrupted_ = true;
  changed_.notify_one();
}

bool job_queue::was_interrupted() {
  std::lock_guard const guard{guard_};
  return std::exchange(interrupted_, false);
}

std::deque<feature_job> job_queue::close() {
  std::lock_guard const guard{guard_};
  closed_ = true;
  changed_.notify_one();
  auto left = std::exchange(waiting_, {});
  std::move(behind_.begin(), behind_.end(), std::back_inserter(left));
  behind_.clear();
  return left;
}

bool job_queue::is_closed() const {
  std::lock_guard const guard{guard_};
  return closed_;
}

}  // namespace atone::features
