// The one writer: commits batches in order on a thread of its own, repeats a batch under its number while the store is away,
// and brings the answers back to the loop.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "environment.hpp"
#include "runtime/ports.hpp"
#include "work_queue.hpp"

namespace atone::library {

class writer_thread final : public runtime::batch_writer {
 public:
  writer_thread(boost::asio::io_context& loop, std::unique_ptr<journal> to, database_clock& clock);
  ~writer_thread() override;

  void commit(journal_batch batch, completion done) override;
  void commit_sql(sql_statement statement, journal::answer_to_batch on_success, sql_completion done) override;
  // Anything else that the writing side does (publish); `work` runs on the writer's thread. False: it has been stopped.
  [[nodiscard]] bool post(std::function<void(journal&)> work);
  // Called on the writer's thread with the boot time at which a commit was asked for that has passed the fence. Set before the first
  // commit.
  void on_passed(std::function<void(duration asked)> told) { passed_ = std::move(told); }
  // Gives shards away behind everything that was given to commit before; repeated while the store is away. `done` on the loop.
  void hand_over(std::vector<shard_move> moves, std::function<void(result<void>)> done);
  // Commits an empty batch, and tells on the writer's thread (on the caller's once it has been stopped): proves that a write goes through
  // and that this process still owns the store.
  void check(std::function<void(result<void>)> done);
  // Tells what has ended and has not been told yet. Every completion is posted to the loop, where it would stand behind all that is ready
  // already while the store has nothing to do; whoever runs the loop calls this between two of its handlers. On the loop's thread, and
  // never from inside a handler. News keep their order among themselves; they may come before handlers that were posted earlier. The loop
  // must not run any more once this object is gone.
  void tell_news();
  // False while a batch waits for the store to come back.
  bool healthy() const noexcept { return healthy_.load(std::memory_order_relaxed); }

  // What is queued is still written, unless the store is away for longer than `grace`.
  void stop(duration grace);

 private:
  class retrying;

  void tell(std::function<void()> news);  // from any thread

  boost::asio::io_context& loop_;
  database_clock& clock_;
  std::unique_ptr<journal> journal_;
  std::function<void(duration)> passed_;
  std::atomic<bool> healthy_{true};
  std::uint64_t last_number_ = 0;  // of the writer's thread
  std::mutex news_lock_;
  std::vector<std::function<void()>> news_;  // under news_lock_; oldest first
  std::atomic<bool> has_news_{false};
  work_queue queue_;
};

}  // namespace atone::library
