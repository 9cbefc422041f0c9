// Reads off the loop: a thread with its own reader, opened again after the store was away.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <atone/journal.hpp>

#include "work_queue.hpp"

namespace atone::library {

class reader_thread {
 public:
  explicit reader_thread(store& from) : from_(from) {}

  // Runs `work` on the reader's thread and tells its outcome there, or at once on the caller's when the reader has been stopped.
  // After a failure that a lost connection may have caused, the next read opens a new one.
  void post(std::function<result<void>(journal_reader&)> work, std::function<void(result<void>)> then) {
    auto const job = std::make_shared<std::pair<decltype(work), decltype(then)>>(std::move(work), std::move(then));
    if (queue_.push([this, job] { job->second(read(job->first)); })) return;
    job->second(stopped_error());
  }

  void stop() { queue_.stop(); }

 private:
  result<void> read(std::function<result<void>(journal_reader&)> const& work) {
    if (reader_ == nullptr) {
      auto opened = from_.open_reader();
      if (!opened) return opened.error();
      reader_ = std::move(*opened);
    }
    auto done = work(*reader_);
    if (!done && done.error().retryable()) reader_.reset();
    return done;
  }

  store& from_;
  std::unique_ptr<journal_reader> reader_;
  work_queue queue_;
};

}  // namespace atone::library
