// A bounded set of connections for many threads. Thread rules: callable from any thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "postgres/session.hpp"

namespace atone::postgres {

class pool {
 public:
  pool(endpoint to, std::size_t size_max) : to_(std::move(to)), size_max_(size_max) {}

  // A connection on loan. When the lease dies it is thrown away, unless keep() said that it is outside a transaction.
  class lease {
   public:
    lease(pool& from, std::unique_ptr<session> on) : from_(&from), on_(std::move(on)) {}
    lease(lease&&) = default;
    lease& operator=(lease&&) = delete;
    ~lease() {
      if (on_) from_->give_back(std::move(on_), keep_);
    }
    session& operator*() { return *on_; }
    session* operator->() { return on_.get(); }
    void keep() { keep_ = true; }

   private:
    pool* from_;
    std::unique_ptr<session> on_;
    bool keep_ = false;
  };

  // Waits for a free one when all are on loan. Errors: exhausted (none came free in time), unavailable.
  result<lease> take();
  // Closes what lies idle: where one was lost, the server most likely ended all.
  void forget_idle();

 private:
  void give_back(std::unique_ptr<session> on, bool keep);

  endpoint const to_;
  std::size_t const size_max_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<session>> idle_;
  std::size_t on_loan_ = 0;
};

}  // namespace atone::postgres
