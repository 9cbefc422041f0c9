#include "postgres/pool.hpp"

#include <atone/assert.hpp>

namespace atone::postgres {

result<pool::lease> pool::take() {
  {
    std::unique_lock lock{mutex_};
    bool const free = freed_.wait_for(lock, to_.limits.answer, [this] { return on_loan_ < size_max_; });
    if (!free) {
      return error{errc::exhausted, "all " + std::to_string(size_max_) + " connections to PostgreSQL have been busy for " +
                                        std::to_string(to_.limits.answer.count()) + " ms"};
    }
    ++on_loan_;
    if (!idle_.empty()) {
      auto on = std::move(idle_.back());
      idle_.pop_back();
      return lease{*this, std::move(on)};
    }
  }
  auto opened = session::open(to_, session_kind::writer);
  if (opened) return lease{*this, std::move(*opened)};
  give_back(nullptr, false);
  return opened.error();
}

void pool::forget_idle() {
  std::vector<std::unique_ptr<session>> closed;  // after the lock is released
  std::lock_guard const lock{mutex_};
  closed.swap(idle_);
}

void pool::give_back(std::unique_ptr<session> on, bool keep) {
  std::lock_guard const lock{mutex_};
  ATONE_ASSERT(on_loan_ > 0);
  --on_loan_;
  if (on && keep && !on->lost()) idle_.push_back(std::move(on));
  freed_.notify_one();
}

}  // namespace atone::postgres
