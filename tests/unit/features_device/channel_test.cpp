// What the core and a worker hear of each other: never later than it was said.
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

#include <gtest/gtest.h>

#include "device/channel.hpp"

namespace atone::features_test {
namespace {

using namespace features;
using namespace std::chrono_literals;

struct socket_pair {
  descriptor here;
  descriptor there;

  socket_pair() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    here = descriptor{ends[0]};
    there = descriptor{ends[1]};
  }
};

std::sig_atomic_t volatile alarms_left = 0;

// The last one stops the timer: a wait that each signal begins anew ends all the same, too late.
void on_alarm(int) {
  alarms_left = alarms_left - 1;
  if (alarms_left > 0) return;
  itimerval const none{};
  setitimer(ITIMER_REAL, &none, nullptr);
}

TEST(features_channel, signals_do_not_put_off_the_deadline) {
  socket_pair const sockets;
  alarms_left = 60;
  struct sigaction action{};
  action.sa_handler = on_alarm;
  struct sigaction before{};
  sigaction(SIGALRM, &action, &before);
  itimerval often{};
  often.it_interval.tv_usec = often.it_value.tv_usec = 50'000;
  setitimer(ITIMER_REAL, &often, nullptr);
  auto const heard = receive_message(sockets.here.get(), 300ms);
  auto const left = alarms_left;
  itimerval const none{};
  setitimer(ITIMER_REAL, &none, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error(), receive_failure::timeout);
  EXPECT_GT(left, 0);
}

TEST(features_channel, what_can_not_be_waited_for_is_closed) {
  EXPECT_EQ(receive_message(-1, 100ms).error(), receive_failure::closed);
  int unused = -1;
  {
    socket_pair const sockets;
    unused = sockets.here.get();
  }
  EXPECT_EQ(receive_message(unused, std::nullopt).error(), receive_failure::closed);
  socket_pair sockets;
  sockets.there = descriptor{};
  EXPECT_EQ(receive_message(sockets.here.get(), std::nullopt).error(), receive_failure::closed);
}

TEST(features_channel, a_message_arrives_as_it_was_sent) {
  socket_pair const sockets;
  worker_message said;
  said.number = 7;
  ASSERT_TRUE(send_message(sockets.there.get(), said));
  auto const heard = receive_message(sockets.here.get(), 0s);
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->message.number, 7U);
  EXPECT_FALSE(heard->file);
}

}  // namespace
}  // namespace atone::features_test
