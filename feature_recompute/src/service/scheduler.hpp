// Who waits for a recompute, and which of them are computed together: a queue that one worker empties batch by batch.
// Thread rules: take is for one worker, all else for any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <atone/features/service.hpp>

namespace atone::features {

// The way back to who asked: an answer is given once, and who is forgotten is told so.
class reply_once {
 public:
  using told = std::function<void(result<recompute_answer>)>;

  reply_once() = default;
  explicit reply_once(told to) : to_(std::move(to)) {}
  reply_once(reply_once&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
  reply_once& operator=(reply_once&& other) noexcept {
    std::swap(to_, other.to_);
    return *this;
  }
  // Only an exception forgets somebody: of memory that can't be had.
  ~reply_once() {
    if (to_) (*this)(error{errc::exhausted, "out of memory"});
  }
  void operator()(result<recompute_answer> made) { std::exchange(to_, nullptr)(std::move(made)); }

 private:
  told to_;
};

// One request and its way back.
struct feature_job {
  bool is_undo = false;
  recompute_request what;
  std::uint64_t rows = 0;  // events to walk, about
  reply_once then;

  feature_job() = default;
};

class job_queue {
 public:
  explicit job_queue(feature_service_options const& with)
      : requests_(with.batch_requests),
        rows_(with.batch_rows),
        wait_(with.batch_wait),
        waiting_max_(with.waiting_max),
        behind_max_(std::max<std::size_t>(1, with.waiting_max / 8)) {}

  // False: the queue is closed, or full.
  bool push(feature_job& job);
  // The same for what can wait: it gets what room a batch has when nobody else waits. Full at an eighth of the queue.
  bool push_behind(feature_job& job);
  // Nothing of push_behind() waits.
  bool is_caught_up() const;
  // The next batch: recomputes up to the bounds, or undos up to the next recompute; in the order they came. Waits for the first one, at
  // most until `until` (nothing: for ever), and then, while `at_work` says that others are under way, for more, until the batch is full or
  // `batch_wait` is over. Nothing: time is over, somebody interrupted it, or it is closed.
  std::vector<feature_job> take(std::optional<std::chrono::steady_clock::time_point> until, std::function<bool()> const& at_work);
  // Looks again whether others are under way.
  void wake();
  // take() returns though nobody waits, until somebody asks was_interrupted().
  void interrupt();
  bool was_interrupted();
  // Gives back what waits; nothing is taken any more.
  std::deque<feature_job> close();
  bool is_closed() const;

 private:
  bool is_full() const;
  void take_from(std::deque<feature_job>& waiting, std::vector<feature_job>& batch, std::uint64_t& rows);

  std::size_t requests_;
  std::uint64_t rows_;
  duration wait_;
  std::size_t waiting_max_;
  std::size_t behind_max_;
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::deque<feature_job> waiting_;
  std::deque<feature_job> behind_;
  std::uint64_t waiting_rows_ = 0;
  bool interrupted_ = false;
  bool closed_ = false;
};

}  // namespace atone::features
