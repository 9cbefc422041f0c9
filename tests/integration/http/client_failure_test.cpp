// Which way a call failed decides whether a saga may believe that nothing was done: a request of which a byte may have left is
// never `connect`, and whatever happens the completion comes exactly once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "http_loop.hpp"
#include "http_scripted_peer.hpp"

namespace atone::http {
namespace {

using namespace std::chrono_literals;
using namespace atone_test;
using testing::HasSubstr;

std::string const empty_ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

exchange call(scripted_peer const& peer, duration timeout = guard) {
  test_client test;
  return test.call(origin_of(peer.url()), make_request("POST", "/x", "{}"), timeout);
}

TEST(client_failure, nobody_listens_is_connect) {
  test_client test;
  auto const made = test.call(origin_of("http://127.0.0.1:" + std::to_string(closed_port())), make_request("POST", "/"));
  EXPECT_EQ(made.failure, transport_failure::connect);
  EXPECT_THAT(made.detail, HasSubstr("127.0.0.1"));
}

TEST(client_failure, an_unknown_name_is_connect) {
  test_client test;
  auto const made = test.call(origin_of("http://no-such-host.invalid"), make_request("POST", "/"));
  EXPECT_EQ(made.failure, transport_failure::connect);
  EXPECT_THAT(made.detail, HasSubstr("no-such-host.invalid"));
}

TEST(client_failure, a_close_after_the_request_is_lost) {
  scripted_peer peer{[](raw_connection& c) { c.read_message(); }};
  auto const made = call(peer);
  EXPECT_EQ(made.failure, transport_failure::lost);
  EXPECT_THAT(made.detail, HasSubstr("before the answer"));
}

TEST(client_failure, a_reset_after_the_request_is_lost) {
  scripted_peer peer{[](raw_connection& c) {
    c.read_message();
    c.reset();
  }};
  EXPECT_EQ(call(peer).failure, transport_failure::lost);
}

TEST(client_failure, an_answer_cut_short_is_lost) {
  for (auto const* text : {"HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "HTTP/1.1 100 Continue\r\n\r\n"}) {
    scripted_peer peer{[&](raw_connection& c) {
      c.read_message();
      c.send(text);
    }};
    auto const made = call(peer);
    EXPECT_EQ(made.failure, transport_failure::lost) << text;
    EXPECT_THAT(made.detail, HasSubstr("in the middle of the answer"));
  }
}

TEST(client_failure, an_answer_without_length_that_ends_in_a_reset_is_lost) {
  scripted_peer peer{[](raw_connection& c) {
    c.read_until("\r\n\r\n");  // leaves the body unread, so that closing resets
    c.send("HTTP/1.1 200 OK\r\n\r\nhalf");
    c.reset();
  }};
  EXPECT_EQ(call(peer).failure, transport_failure::lost);
}

TEST(client_failure, no_answer_in_time_is_timeout) {
  scripted_peer peer{[](raw_connection& c) {
    c.read_message();
    c.stall();
  }};
  EXPECT_EQ(call(peer, 30ms).failure, transport_failure::timeout);
}

TEST(client_failure, an_answer_that_trickles_in_is_timeout) {
  scripted_peer peer{[](raw_connection& c) {
    c.read_message();
    c.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegin");
    c.stall();
  }};
  EXPECT_EQ(call(peer, 30ms).failure, transport_failure::timeout);
}

TEST(client_failure, a_large_request_nobody_reads_is_timeout) {
  std::promise<void> finish;
  auto const finished = finish.get_future().share();
  scripted_peer deaf{[finished](raw_connection&) { finished.wait(); }};
  test_client test;
  auto const made = test.call(origin_of(deaf.url()), make_request("POST", "/", std::string(32'000'000, 'x')), 50ms);
  EXPECT_EQ(made.failure, transport_failure::timeout);
  finish.set_value();
}

TEST(client_failure, what_is_not_http_is_malformed) {
  for (auto const* text : {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n",
                           "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnothex\r\n"}) {
    scripted_peer peer{[&](raw_connection& c) {
      c.read_message();
      c.send(text);
      c.stall();
    }};
    EXPECT_EQ(call(peer).failure, transport_failure::malformed) << text;
  }
}

TEST(client_failure, an_answer_above_the_limits_is_malformed) {
  client_options options;
  options.body_max = 1000;
  options.header_max = 500;
  for (auto const& text :
       {"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'),
        "HTTP/1.1 200 OK\r\nX: " + std::string(600, 'x') + "\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n" + std::string(1001, 'x')}) {
    scripted_peer peer{[&](raw_connection& c) {
      c.read_message();
      c.send(text);
      c.stall();
    }};
    test_client test{options};
    EXPECT_EQ(test.call(origin_of(peer.url()), make_request("GET", "/")).failure, transport_failure::malformed) << text.substr(0, 40);
  }
}

TEST(client_failure, a_header_that_would_break_its_line_never_leaves) {
  scripted_peer peer{[](raw_connection& c) { c.stall(); }};
  test_client test;
  auto what = make_request("GET", "/");
  what.headers.add("X", "a\r\nb");
  auto const made = test.call(origin_of(peer.url()), what);
  EXPECT_EQ(made.failure, transport_failure::connect);
  EXPECT_THAT(made.detail, HasSubstr("header X"));
  EXPECT_EQ(peer.connections(), 0u);
}

// The connection is kept, and the peer closes it without an answer when the next request is there: sent once, reported lost.
TEST(client_failure, a_request_lost_on_a_kept_connection_is_not_sent_again) {
  std::atomic<int> requests{0};
  scripted_peer peer{[&](raw_connection& c) {
    if (!c.read_message().empty()) ++requests;
    c.send(empty_ok);
    if (!c.read_message().empty()) ++requests;
  }};
  test_client test;
  auto const to = origin_of(peer.url());
  ASSERT_TRUE(test.call(to, make_request("POST", "/first")).ok());
  EXPECT_EQ(test.call(to, make_request("POST", "/second")).failure, transport_failure::lost);
  EXPECT_EQ(requests, 2);
  EXPECT_EQ(peer.connections(), 1u);
}

TEST(client_failure, the_time_spent_waiting_for_a_connection_counts_and_nothing_had_left) {
  scripted_peer peer{[](raw_connection& c) { c.stall(); }};
  client_options options;
  options.connections_max = 1;
  test_client test{options};
  std::optional<exchange> first;
  std::optional<exchange> second;
  auto const to = origin_of(peer.url());
  test.client.send(to, make_request("POST", "/"), guard, [&](exchange made) { first = std::move(made); });
  test.client.send(to, make_request("POST", "/"), 30ms, [&](exchange made) { second = std::move(made); });
  run_until(test.io, [&] { return second.has_value(); });
  EXPECT_EQ(second->failure, transport_failure::connect);
  EXPECT_FALSE(first);
}

TEST(client_failure, a_request_given_up_frees_its_place) {
  scripted_peer peer{{[](raw_connection& c) { c.stall(); },
                      [](raw_connection& c) {
                        c.read_message();
                        c.send(empty_ok);
                        c.stall();
                      }}};
  client_options options;
  options.connections_max = 1;
  test_client test{options};
  std::optional<exchange> first;
  std::optional<exchange> second;
  auto const to = origin_of(peer.url());
  test.client.send(to, make_request("POST", "/"), 30ms, [&](exchange made) { first = std::move(made); });
  test.client.send(to, make_request("POST", "/"), guard, [&](exchange made) { second = std::move(made); });
  run_until(test.io, [&] { return second.has_value(); });
  EXPECT_EQ(first->failure, transport_failure::timeout);
  EXPECT_TRUE(second->ok()) << second->detail;
}

TEST(client_cancel, before_anything_left_is_connect_and_after_it_is_lost) {
  std::atomic<bool> received{false};
  scripted_peer peer{[&](raw_connection& c) {
    if (c.read_message().empty()) return;  // the connection of the one that was given up
    received = true;
    c.stall();
  }};
  test_client test;
  auto const to = origin_of(peer.url());
  std::optional<exchange> early;
  auto const first = test.client.send(to, make_request("POST", "/"), guard, [&](exchange made) { early = std::move(made); });
  test.client.cancel(first);
  EXPECT_FALSE(early) << "not from inside cancel()";
  run_until(test.io, [&] { return early.has_value(); });
  EXPECT_EQ(early->failure, transport_failure::connect);

  std::optional<exchange> late;
  auto const second = test.client.send(to, make_request("POST", "/"), guard, [&](exchange made) { late = std::move(made); });
  run_until(test.io, [&] { return received.load(); });
  test.client.cancel(second);
  run_until(test.io, [&] { return late.has_value(); });
  EXPECT_EQ(late->failure, transport_failure::lost);
}

TEST(client_cancel, of_what_has_ended_or_never_was_does_nothing) {
  scripted_peer peer{[](raw_connection& c) {
    c.read_message();
    c.send(empty_ok);
    c.stall();
  }};
  test_client test;
  int ended = 0;
  auto const which = test.client.send(origin_of(peer.url()), make_request("GET", "/"), guard, [&](exchange) { ++ended; });
  run_until(test.io, [&] { return ended == 1; });
  test.client.cancel(which);
  test.client.cancel(0);
  test.client.cancel(4711);
  test.io.restart();
  test.io.poll();
  EXPECT_EQ(ended, 1);
}

TEST(client_stop, ends_everything_once) {
  scripted_peer peer{[](raw_connection& c) { c.stall(); }};
  client_options options;
  options.connections_max = 3;
  test_client test{options};
  std::vector<int> ended(10);
  auto const to = origin_of(peer.url());
  for (std::size_t n = 0; n < ended.size(); ++n) {
    test.client.send(to, make_request("POST", "/"), guard, [&, n](exchange made) {
      ++ended[n];
      EXPECT_FALSE(made.ok());
    });
  }
  run_until(test.io, [&] { return peer.connections() == 3; });
  test.client.stop();
  std::optional<exchange> after;
  test.client.send(to, make_request("POST", "/"), guard, [&](exchange made) { after = std::move(made); });
  test.io.restart();
  test.io.run();
  EXPECT_THAT(ended, testing::Each(1));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->failure, transport_failure::connect);
}

TEST(client_stop, a_completion_may_destroy_the_client) {
  scripted_peer peer{[](raw_connection& c) {
    c.read_message();
    c.send(empty_ok);
    c.stall();
  }};
  boost::asio::io_context io{1};
  auto owned = std::make_unique<client>(io, client_options{});
  bool done = false;
  owned->send(origin_of(peer.url()), make_request("GET", "/"), guard, [&](exchange) {
    owned.reset();
    done = true;
  });
  run_until(io, [&] { return done; });
  io.restart();
  io.run();
}

TEST(client_stop, a_completion_of_a_timeout_may_destroy_the_client) {
  scripted_peer peer{[](raw_connection& c) { c.stall(); }};
  boost::asio::io_context io{1};
  auto owned = std::make_unique<client>(io, client_options{});
  bool done = false;
  owned->send(origin_of(peer.url()), make_request("GET", "/"), 10ms, [&](exchange) {
    owned.reset();
    done = true;
  });
  run_until(io, [&] { return done; });
  io.restart();
  io.run();
}

}  // namespace
}  // namespace atone::http
