// A graceful stop: open requests are answered, nothing new is taken, and the end is told once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http_loop.hpp"
#include "http_scripted_peer.hpp"

namespace atone::http {
namespace {

using namespace std::chrono_literals;
using namespace atone_test;
using testing::HasSubstr;

// stop() is carried out on the server's thread: dials until nobody answers.
bool is_shut_in_time(std::uint16_t port) {
  auto const until = std::chrono::steady_clock::now() + guard;
  while (std::chrono::steady_clock::now() < until) {
    try {
      raw_connection::dial(port);
    } catch (std::runtime_error const&) {
      return true;
    }
  }
  return false;
}

TEST(server_stop, with_nothing_open_is_immediate) {
  test_server server{[](request, responder way) { way.send(response{200, "{}"}); }};
  raw_connection idle{raw_connection::dial(server.port())};
  idle.send("GET / HTTP/1.1\r\n\r\n");
  idle.read_message();
  EXPECT_EQ(server.stop(1h).wait_for(guard), std::future_status::ready);
  EXPECT_TRUE(idle.at_end());
}

TEST(server_stop, lets_an_open_request_be_answered_and_closes_after_it) {
  std::promise<responder> came;
  test_server server{[&](request, responder way) { came.set_value(std::move(way)); }};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("GET / HTTP/1.1\r\n\r\n");
  auto way = came.get_future().get();
  auto stopped = server.stop(1h);
  EXPECT_TRUE(is_shut_in_time(server.port())) << "the door is shut first";
  way.send(response{200, "last words"});
  auto const answer = client.read_message();
  EXPECT_THAT(answer, HasSubstr("last words"));
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
  client.close();
  EXPECT_EQ(stopped.wait_for(guard), std::future_status::ready);
}

TEST(server_stop, ends_after_the_grace_whatever_is_open) {
  std::promise<responder> came;
  test_server server{[&](request, responder way) { came.set_value(std::move(way)); }};
  raw_connection handled{raw_connection::dial(server.port())};
  handled.send("GET / HTTP/1.1\r\n\r\n");
  auto const way = came.get_future().get();
  raw_connection half{raw_connection::dial(server.port())};
  half.send("GET / HT");
  EXPECT_EQ(server.stop(20ms).wait_for(guard), std::future_status::ready);
  EXPECT_EQ(handled.read_to_end(), "");
  EXPECT_EQ(half.read_to_end(), "");
}

TEST(server_stop, twice_tells_both) {
  test_server server{[](request, responder way) { way.send(response{200, "{}"}); }};
  auto first = server.stop(1s);
  auto second = server.stop(1s);
  EXPECT_EQ(first.wait_for(guard), std::future_status::ready);
  EXPECT_EQ(second.wait_for(guard), std::future_status::ready);
}

}  // namespace
}  // namespace atone::http
