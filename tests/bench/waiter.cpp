#include "waiter.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "failure.hpp"

namespace bench {

bell::bell() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw failure{"no eventfd"};
}
bell::~bell() {
  ::close(descriptor_);
}

void bell::ring() noexcept {
  ::eventfd_write(descriptor_, 1);
}

waiter::waiter() {
  sigset_t asked;
  ::sigemptyset(&asked);
  ::sigaddset(&asked, SIGINT);
  ::sigaddset(&asked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &asked, nullptr);
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // planned arrivals are kept to the microsecond, not to the usual 50
  signals_ = ::signalfd(-1, &asked, SFD_CLOEXEC);
  if (signals_ < 0) throw failure{"no signalfd"};
}
waiter::~waiter() {
  ::close(signals_);
}

void waiter::pause_until(steady::time_point moment) const {
  wait(-1, moment);
}

bool waiter::hear(int descriptor, steady::duration at_most) const {
  return wait(descriptor, steady::now() + at_most);
}

bool waiter::wait(int descriptor, steady::time_point until) const {
  std::array watched{pollfd{signals_, POLLIN, 0}, pollfd{descriptor, POLLIN, 0}};
  for (;;) {
    auto const left = std::max(steady::duration{0}, until - steady::now());
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    timespec const wait_for{seconds.count(), std::chrono::nanoseconds{left - seconds}.count()};
    auto const heard = ::ppoll(watched.data(), watched.size(), &wait_for, nullptr);
    if (heard < 0 && errno == EINTR) continue;
    if (watched[0].revents != 0) throw interrupted{};
    return heard > 0;
  }
}

}  // namespace bench
