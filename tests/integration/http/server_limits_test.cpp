// Bounds of the server: what is too large, too slow or too much is refused with the right status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/steady_timer.hpp>

#include "http_loop.hpp"
#include "http_scripted_peer.hpp"

namespace atone::http {
namespace {

using namespace std::chrono_literals;
using namespace atone_test;
using testing::HasSubstr;
using testing::StartsWith;

void echo(request what, responder way) {
  way.send(response{200, what.method + " " + what.target + " " + what.body});
}

struct refused {
  std::string text;
  std::string status;
};

class server_refuses : public testing::TestWithParam<refused> {};

TEST_P(server_refuses, and_closes) {
  server_options options;
  options.header_max = 1024;
  options.body_max = 4096;
  test_server server{echo, options};
  raw_connection client{raw_connection::dial(server.port())};
  client.send(GetParam().text);
  auto const answer = client.read_message();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + GetParam().status + " "));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, HasSubstr(R"({"error":{"code":"bad_request","message":")"));
  client.finish_sending();
  EXPECT_TRUE(client.at_end());
}

INSTANTIATE_TEST_SUITE_P(requests, server_refuses,
                         testing::Values(refused{"nonsense\r\n\r\n", "400"}, refused{"GET / HTTP/2.0\r\n\r\n", "505"},
                                         refused{"GET / HTTP/1.1\r\nX: " + std::string(2000, 'x'), "431"},
                                         refused{"POST / HTTP/1.1\r\nContent-Length: 4097\r\n\r\n", "413"},
                                         refused{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1001\r\n", "413"},
                                         refused{"POST / HTTP/1.1\r\nTransfer-Encoding: br\r\n\r\n", "501"},
                                         refused{"POST / HTTP/1.1\r\nExpect: more\r\nContent-Length: 1\r\n\r\n", "417"},
                                         refused{"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"}));

TEST(server_limits, a_client_that_sends_on_still_gets_the_refusal) {
  server_options options;
  options.body_max = 1000;
  test_server server{echo, options};
  test_client test;
  auto const made = test.call(origin_of(server.url()), make_request("POST", "/", std::string(6'000'000, 'x')));
  ASSERT_TRUE(made.ok()) << made.detail;
  EXPECT_EQ(made.response.status, 413);
  EXPECT_THAT(made.response.body, HasSubstr("larger than 1000 bytes"));
}

TEST(server_limits, a_request_that_trickles_in_is_answered_408) {
  server_options options;
  options.request_max = 40ms;
  test_server server{echo, options};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("GET / HTTP/1.1\r\nHost");
  EXPECT_THAT(client.read_message(), StartsWith("HTTP/1.1 408 "));
}

TEST(server_limits, bytes_that_trickle_in_do_not_buy_time) {
  server_options options;
  options.request_max = 60ms;
  test_server server{echo, options};
  raw_connection client{raw_connection::dial(server.port())};
  boost::asio::io_context io{1};
  boost::asio::steady_timer tick{io};
  std::function<void()> trickle = [&] {
    if (!client.send("x")) return;
    tick.expires_after(5ms);
    tick.async_wait([&](boost::system::error_code) { trickle(); });
  };
  client.send("GET / HTTP/1.1\r\nX: ");
  std::thread sender{[&] {
    trickle();
    io.run_for(20s);
  }};
  EXPECT_THAT(client.read_message(), StartsWith("HTTP/1.1 408 "));
  boost::asio::post(io, [&] { io.stop(); });
  sender.join();
}

TEST(server_limits, an_idle_connection_is_closed_without_a_word) {
  server_options options;
  options.idle_max = 20ms;
  test_server server{echo, options};
  raw_connection silent{raw_connection::dial(server.port())};
  EXPECT_TRUE(silent.at_end());
  raw_connection once{raw_connection::dial(server.port())};
  once.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(once.read_message(), HasSubstr("GET /"));
  EXPECT_TRUE(once.at_end());
}

TEST(server_limits, a_client_that_does_not_take_its_answer_is_dropped) {
  server_options options;
  options.idle_max = 50ms;
  test_server server{[](request, responder way) { way.send(response{200, std::string(64'000'000, 'x')}); }, options};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("GET / HTTP/1.1\r\n\r\n");
  // Connections beyond the first are served meanwhile, and the idle clock runs for the first.
  raw_connection other{raw_connection::dial(server.port())};
  EXPECT_TRUE(other.at_end());
  EXPECT_LT(client.read_to_end().size(), 64'000'000u);
}

TEST(server_limits, connections_above_the_bound_wait_their_turn) {
  server_options options;
  options.connections_max = 1;
  test_server server{echo, options};
  auto first = std::make_unique<raw_connection>(raw_connection::dial(server.port()));
  first->send("GET /1 HTTP/1.1\r\n\r\n");
  EXPECT_THAT(first->read_message(), HasSubstr("GET /1"));
  raw_connection second{raw_connection::dial(server.port())};
  second.send("GET /2 HTTP/1.1\r\n\r\n");
  first->send("GET /3 HTTP/1.1\r\n\r\n");
  EXPECT_THAT(first->read_message(), HasSubstr("GET /3")) << "the first is served, the second waits";
  first.reset();
  EXPECT_THAT(second.read_message(), HasSubstr("GET /2"));
}

// Kept connections must not shut out whoever comes to look at the server's health.
TEST(server_limits, at_the_bound_the_one_that_asks_nothing_makes_room) {
  server_options options;
  options.connections_max = 2;
  std::promise<responder> held;
  auto const handler = [&](request asked, responder way) {
    if (asked.target == "/held") return held.set_value(std::move(way));
    echo(std::move(asked), std::move(way));
  };
  test_server server{handler, options};
  raw_connection idle{raw_connection::dial(server.port())};
  idle.send("GET /1 HTTP/1.1\r\n\r\n");
  EXPECT_THAT(idle.read_message(), HasSubstr("GET /1"));
  raw_connection busy{raw_connection::dial(server.port())};
  busy.send("GET /held HTTP/1.1\r\n\r\n");
  auto way = held.get_future().get();
  raw_connection third{raw_connection::dial(server.port())};
  third.send("GET /3 HTTP/1.1\r\n\r\n");
  EXPECT_THAT(third.read_message(), HasSubstr("GET /3"));
  EXPECT_TRUE(idle.at_end());
  way.send(response{200, "still here"});
  EXPECT_THAT(busy.read_message(), HasSubstr("still here"));
}

TEST(server_start, names_the_address_it_cannot_have) {
  test_server server{echo};
  boost::asio::io_context io{1};
  server_options taken;
  taken.port = server.port();
  http::server again{io, taken, echo};
  auto const made = again.start();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::unavailable);
  EXPECT_THAT(made.error().message, HasSubstr("127.0.0.1:" + std::to_string(server.port())));

  server_options named;
  named.address = "localhost";
  http::server other{io, named, echo};
  auto const refused_name = other.start();
  ASSERT_FALSE(refused_name);
  EXPECT_THAT(refused_name.error().message, HasSubstr("expected an IP address"));
}

}  // namespace
}  // namespace atone::http
