#include "http/deadlines.hpp"

#include <algorithm>
#include <set>

#include <boost/asio/basic_waitable_timer.hpp>

namespace atone::http {

struct deadlines::state : std::enable_shared_from_this<state> {
  using timer_type = boost::asio::basic_waitable_timer<clock, boost::asio::wait_traits<clock>, boost::asio::io_context::executor_type>;

  timer_type timer;
  std::function<void(id)> expired;
  std::set<entry> open;
  clock::time_point armed_for = clock::time_point::max();  // max: not armed
  bool closed = false;  // the owner is gone; `expired` may be on the stack, so it is not destroyed but no longer called

  state(boost::asio::io_context& io, std::function<void(id)> call) : timer(io), expired(std::move(call)) {}

  // The timer is moved only to an earlier time; waking for a deadline that was removed meanwhile is cheaper than moving it each time.
  void arm() {
    if (open.empty() || open.begin()->first >= armed_for) return;
    armed_for = open.begin()->first;
    timer.expires_at(armed_for);
    timer.async_wait([self = shared_from_this()](boost::system::error_code ec) {
      if (!ec) self->wake();
    });
  }

  void wake() {
    armed_for = clock::time_point::max();
    auto const now = clock::now();
    while (!closed && !open.empty() && open.begin()->first <= now) {
      auto const whose = open.begin()->second;
      open.erase(open.begin());
      expired(whose);
    }
    if (!closed) arm();
  }

  void stop() {
    open.clear();
    armed_for = clock::time_point::max();
    timer.cancel();
  }
};

deadlines::deadlines(boost::asio::io_context& io, std::function<void(id)> expired)
    : state_(std::make_shared<state>(io, std::move(expired))) {}

deadlines::~deadlines() {
  state_->closed = true;
  state_->stop();
}

deadlines::entry deadlines::add(duration after, id whose) {
  auto const when = clock::now() + std::clamp(after, duration::zero(), duration_max);
  entry const made{when, whose};
  state_->open.insert(made);
  state_->arm();
  return made;
}

void deadlines::remove(entry const& which) {
  state_->open.erase(which);
}

void deadlines::stop() {
  state_->stop();
}

}  // namespace atone::http
