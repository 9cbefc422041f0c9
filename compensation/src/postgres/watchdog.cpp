#include "postgres/watchdog.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace atone::postgres {

watchdog::guard::guard(watchdog& of, int socket, std::chrono::milliseconds limit) : of_(of), ticket_(of.arm(socket, limit)) {}
watchdog::guard::~guard() {
  of_.disarm(ticket_);
}

watchdog::watchdog() : thread_([this] { run(); }) {}

watchdog::~watchdog() {
  {
    std::lock_guard const lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::uint64_t watchdog::arm(int socket, std::chrono::milliseconds limit) {
  auto const due = std::chrono::steady_clock::now() + limit;
  std::lock_guard const lock{mutex_};
  auto const ticket = next_ticket_++;
  armed_.emplace(ticket, watched{socket, due});
  // The thread is woken only when it would sleep too long: once a limit, not once a call.
  if (due < wakes_at_) changed_.notify_one();
  return ticket;
}

// After this returns the socket is never touched: its number may be another's soon.
void watchdog::disarm(std::uint64_t ticket) {
  std::lock_guard const lock{mutex_};
  armed_.erase(ticket);
}

watchdog::enrolment::enrolment(watchdog& of, int socket)
    : of_(of), socket_(::fcntl(socket, F_DUPFD_CLOEXEC, 0)), ticket_([&] {
        std::lock_guard const lock{of.mutex_};
        auto const ticket = of.next_ticket_++;
        of.enrolled_.emplace(ticket, std::pair{socket_, std::chrono::steady_clock::now()});
        return ticket;
      }()) {}

watchdog::enrolment::~enrolment() {
  std::lock_guard const lock{of_.mutex_};
  of_.enrolled_.erase(ticket_);
  if (socket_ >= 0) ::close(socket_);
}

void watchdog::cut_older(moment made_before) {
  std::lock_guard const lock{mutex_};
  for (auto const& [ticket, one] : enrolled_) {
    if (one.second < made_before) ::shutdown(one.first, SHUT_RDWR);
  }
}

void watchdog::run() {
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    wakes_at_ = cut_overdue(std::chrono::steady_clock::now());
    if (wakes_at_ == moment::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, wakes_at_);
    }
  }
}

watchdog::moment watchdog::cut_overdue(moment now) {
  auto earliest = moment::max();
  for (auto& [ticket, one] : armed_) {
    if (one.due <= now) {
      ::shutdown(one.socket, SHUT_RDWR);
      one.due = moment::max();
    }
    earliest = std::min(earliest, one.due);
  }
  return earliest;
}

}  // namespace atone::postgres
