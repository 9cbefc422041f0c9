#include "lease_keeper.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "environment.hpp"

namespace atone::library {
namespace {

// What is taken off the lease on our side, for clocks that run at different rates and for a request that is just leaving.
constexpr int margin_part = 10;

// The store read its clock somewhere between the two: only what lies outside of them is an offset for sure.
duration offset_of(timestamp asked, timestamp answered, timestamp database) {
  if (asked > database) return std::chrono::duration_cast<duration>(asked - database);
  if (answered < database) return std::chrono::duration_cast<duration>(answered - database);
  return duration{0};
}

}  // namespace

lease_keeper::lease_keeper(std::unique_ptr<membership> of, lease_settings with)
    : membership_(std::move(of)), settings_(std::move(with)), policy_(settings_.lease) {}

lease_keeper::~lease_keeper() {
  stop(false);
}

bool lease_keeper::holds() const {
  return boot_time().count() < until_.load(std::memory_order_relaxed);
}

// Again at once after anything was changed, so that what is told is how it stands.
result<lease_news> lease_keeper::look() {
  for (;;) {
    lease_news made;
    made.asked = boot_time();
    auto const wall_asked = wall_time();
    auto seen = membership_->renew(settings_.address, settings_.lease);
    if (!seen) {
      policy_.blinded();
      return seen.error();
    }
    made.clock_offset = offset_of(wall_asked, wall_time(), seen->database_time);
    until_.store((made.asked + settings_.lease - settings_.lease / margin_part).count(), std::memory_order_relaxed);
    auto decided = policy_.decide(*seen, made.asked);
    bool changed = false;
    for (auto const& one : decided.gone) {
      auto const fenced = membership_->fence(one);
      changed = changed || (fenced && *fenced);
    }
    if (decided.claim > 0) {
      auto const claimed = membership_->claim(decided.claim);
      if (!claimed && claimed.error().code == errc::fenced) return claimed.error();
      changed = changed || (claimed && !claimed->empty());
    }
    if (changed) continue;
    made.seen = std::move(*seen);
    made.give = std::move(decided.give);
    return made;
  }
}

result<lease_news> lease_keeper::begin() {
  return look();
}

void lease_keeper::run(boost::asio::io_context& loop, std::function<void(lease_news)> heard, std::function<void(error)> lost) {
  loop_ = &loop;
  heard_ = std::move(heard);
  lost_ = std::move(lost);
  thread_ = std::thread{[this] { loop_until_stopped(); }};
}

void lease_keeper::loop_until_stopped() {
  while (!stopping_.load()) {
    membership_->await_news(settings_.interval());
    if (stopping_.load()) return;
    auto found = look();
    if (found) {
      boost::asio::post(*loop_, [this, found = std::move(*found)]() mutable { heard_(std::move(found)); });
    } else if (found.error().code == errc::fenced) {
      until_.store(0, std::memory_order_relaxed);
      boost::asio::post(*loop_, [this, why = found.error()] { lost_(why); });
      return;
    }
  }
}

void lease_keeper::stop(bool leave) {
  stopping_.store(true);
  if (thread_.joinable()) thread_.join();
  if (leave && membership_) static_cast<void>(membership_->leave());  // else the lease runs out
  membership_.reset();
}

}  // namespace atone::library
