// The client against peers that follow a script: what a good answer looks like in all its forms, and how connections are kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "http_loop.hpp"
#include "http_scripted_peer.hpp"

namespace atone::http {
namespace {

using namespace std::chrono_literals;
using namespace atone_test;
using testing::HasSubstr;
using testing::StartsWith;

std::string const empty_ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

// Answers every request on the connection with the same text.
scripted_peer::script always(std::string text) {
  return [text = std::move(text)](raw_connection& c) {
    while (!c.read_message().empty()) {
      if (!c.send(text)) return;
    }
  };
}

struct good_answer {
  char const* name;
  std::string text;
  std::int32_t status;
  std::string body;
};

void PrintTo(good_answer const& of, std::ostream* out) {
  *out << of.name;
}

class client_reads : public testing::TestWithParam<good_answer> {};

TEST_P(client_reads, an_answer) {
  scripted_peer peer{[](raw_connection& c) {
    c.read_message();
    c.send(GetParam().text);
    c.close();
  }};
  test_client test;
  auto const made = test.call(origin_of(peer.url()), make_request("POST", "/x", "{}"));
  ASSERT_TRUE(made.ok()) << made.detail;
  EXPECT_EQ(made.response.status, GetParam().status);
  EXPECT_EQ(made.response.body, GetParam().body);
}

INSTANTIATE_TEST_SUITE_P(
    forms, client_reads,
    testing::Values(good_answer{"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"},
                    good_answer{"chunks", "HTTP/1.1 201 C\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", 201,
                                "hello"},
                    good_answer{"until_close", "HTTP/1.1 200 OK\r\n\r\nhello", 200, "hello"},
                    good_answer{"http_1_0", "HTTP/1.0 200 OK\r\n\r\nhello", 200, "hello"},
                    good_answer{"no_content", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
                    good_answer{"not_modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, ""},
                    good_answer{"interim_first", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok"},
                    good_answer{"no_reason", "HTTP/1.1 409 \r\nContent-Length: 2\r\n\r\nno", 409, "no"}),
    [](auto const& of) { return of.param.name; });

TEST(client, sends_the_request_as_one_text) {
  std::string seen;
  scripted_peer peer{[&](raw_connection& c) {
    seen = c.read_message();
    c.send(empty_ok);
    c.stall();
  }};
  test_client test;
  auto what = make_request("POST", "/orders?x=1", "{\"order_id\":9007199254740993}");
  what.headers.add("Idempotency-Key", "k1");
  ASSERT_TRUE(test.call(origin_of(peer.url() + "/base"), what).ok());
  EXPECT_THAT(seen, StartsWith("POST /base/orders?x=1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(peer.port())));
  EXPECT_THAT(seen, HasSubstr("Idempotency-Key: k1\r\n"));
  EXPECT_THAT(seen, HasSubstr("\r\n\r\n{\"order_id\":9007199254740993}"));
}

TEST(client, a_head_answer_has_no_body_and_keeps_the_connection) {
  scripted_peer peer{always("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")};
  test_client test;
  auto const to = origin_of(peer.url());
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(test.call(to, make_request("HEAD", "/")).ok());
  EXPECT_EQ(peer.connections(), 1u);
}

TEST(client, keeps_a_connection_for_the_next_request) {
  scripted_peer peer{always(empty_ok)};
  test_client test;
  auto const to = origin_of(peer.url());
  for (int n = 0; n < 5; ++n) ASSERT_TRUE(test.call(to, make_request("POST", "/", "{}")).ok());
  EXPECT_EQ(peer.connections(), 1u);
}

TEST(client, does_not_keep_a_connection_that_is_to_be_closed) {
  scripted_peer peer{always("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")};
  test_client test;
  auto const to = origin_of(peer.url());
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(test.call(to, make_request("GET", "/")).ok());
  EXPECT_EQ(peer.connections(), 3u);
}

TEST(client, does_not_keep_a_connection_on_which_more_came_than_asked_for) {
  scripted_peer peer{always(empty_ok + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")};
  test_client test;
  auto const to = origin_of(peer.url());
  for (int n = 0; n < 3; ++n) {
    auto const made = test.call(to, make_request("GET", "/"));
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made.response.body, "") << "the second text answers nothing";
  }
  EXPECT_EQ(peer.connections(), 3u);
}

TEST(client, a_kept_connection_the_peer_has_closed_is_not_used_again) {
  std::promise<void> closed;
  scripted_peer peer{{[&](raw_connection& c) {
                        c.read_message();
                        c.send(empty_ok);
                        c.close();
                        closed.set_value();
                      },
                      always(empty_ok)}};
  test_client test;
  auto const to = origin_of(peer.url());
  ASSERT_TRUE(test.call(to, make_request("POST", "/")).ok());
  closed.get_future().wait();
  // The loop does not run between: only the look at the socket can tell.
  auto const made = test.call(to, make_request("POST", "/"));
  EXPECT_TRUE(made.ok()) << made.detail;
  EXPECT_EQ(peer.connections(), 2u);
}

TEST(client, closes_a_kept_connection_after_a_while) {
  std::atomic<bool> ended{false};
  scripted_peer peer{[&](raw_connection& c) {
    c.read_message();
    c.send(empty_ok);
    ended = c.at_end();
  }};
  client_options options;
  options.idle_max = 20ms;
  test_client test{options};
  ASSERT_TRUE(test.call(origin_of(peer.url()), make_request("GET", "/")).ok());
  run_until(test.io, [&] { return ended.load(); });
}

TEST(client, opens_no_more_connections_than_allowed_and_serves_in_order) {
  scripted_peer peer{always(empty_ok)};
  client_options options;
  options.connections_max = 2;
  test_client test{options};
  std::vector<int> order;
  for (int n = 0; n < 50; ++n) {
    test.client.send(origin_of(peer.url()), make_request("POST", "/"), guard, [&, n](exchange made) {
      EXPECT_TRUE(made.ok()) << made.detail;
      order.push_back(n);
    });
  }
  EXPECT_TRUE(order.empty()) << "never from inside send()";
  run_until(test.io, [&] { return order.size() == 50; });
  EXPECT_EQ(peer.connections(), 2u);
  // First come, first served: whichever connection is quicker, each serves in order, so the ends are two rising rows side by side.
  std::array<int, 2> last{-1, -1};
  for (int const n : order) {
    auto& row = last[0] > last[1] ? (n > last[0] ? last[0] : last[1]) : (n > last[1] ? last[1] : last[0]);
    EXPECT_GT(n, row) << "served out of turn";
    row = n;
  }
}

TEST(client, one_that_asks_too_much_at_once_is_refused_at_once) {
  scripted_peer peer{[](raw_connection& c) { c.stall(); }};
  client_options options;
  options.connections_max = 1;
  options.waiting_max = 1;
  test_client test{options};
  int pending = 0;
  std::optional<exchange> third;
  auto const to = origin_of(peer.url());
  for (int n = 0; n < 2; ++n) test.client.send(to, make_request("GET", "/"), guard, [&](exchange) { ++pending; });
  test.client.send(to, make_request("GET", "/"), guard, [&](exchange made) { third = std::move(made); });
  run_until(test.io, [&] { return third.has_value(); });
  EXPECT_EQ(third->failure, transport_failure::connect);
  EXPECT_THAT(third->detail, HasSubstr("wait"));
  EXPECT_EQ(pending, 0);
}

TEST(client, sends_and_takes_large_bodies) {
  std::string const large(3'000'000, 'x');
  test_server server{[](request what, responder way) { way.send(response{200, std::move(what.body)}); }};
  test_client test;
  for (int n = 0; n < 3; ++n) {
    auto const made = test.call(origin_of(server.url()), make_request("POST", "/", large));
    ASSERT_TRUE(made.ok()) << made.detail;
    EXPECT_EQ(made.response.body.size(), large.size());
    EXPECT_TRUE(made.response.body == large);
  }
}

TEST(client, an_early_answer_to_a_body_still_being_sent_is_taken) {
  scripted_peer peer{[](raw_connection& c) {
    c.read_until("\r\n\r\n");
    c.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno");
    c.stall();
  }};
  test_client test;
  auto const made = test.call(origin_of(peer.url()), make_request("POST", "/", std::string(8'000'000, 'x')));
  ASSERT_TRUE(made.ok()) << made.detail;
  EXPECT_EQ(made.response.status, 413);
}

TEST(client, a_completion_may_send_the_next_request) {
  scripted_peer peer{always(empty_ok)};
  test_client test;
  int left = 100;
  std::function<void()> next = [&] {
    test.client.send(origin_of(peer.url()), make_request("POST", "/", "{}"), guard, [&](exchange made) {
      EXPECT_TRUE(made.ok());
      if (--left > 0) next();
    });
  };
  next();
  run_until(test.io, [&] { return left == 0; });
  EXPECT_EQ(peer.connections(), 1u);
}

TEST(client, resolves_names) {
  scripted_peer peer{always(empty_ok)};
  test_client test;
  auto const made = test.call(origin_of("http://localhost:" + std::to_string(peer.port())), make_request("GET", "/"));
  EXPECT_TRUE(made.ok()) << made.detail;
}

TEST(client, speaks_ipv6) {
  server_options options;
  options.address = "::1";
  std::optional<test_server> server;
  try {
    server.emplace([](request what, responder way) { way.send(response{200, std::string{what.headers.get("Host")}}); }, options);
  } catch (std::exception const& no_ipv6) {
    GTEST_SKIP() << no_ipv6.what();
  }
  test_client test;
  auto const authority = "[::1]:" + std::to_string(server->port());
  auto const made = test.call(origin_of("http://" + authority), make_request("GET", "/"));
  ASSERT_TRUE(made.ok()) << made.detail;
  EXPECT_EQ(made.response.body, authority);
}

TEST(fetch, asks_once_and_keeps_all_headers) {
  test_server server{[](request what, responder way) {
    response answer{200, what.method + " " + what.target + " " + what.body};
    answer.headers.add("X-Other", "y");
    way.send(std::move(answer));
  }};
  auto const made = fetch(server.url() + "/a?b=c", make_request("PUT", "/", "body"), guard);
  ASSERT_TRUE(made.ok()) << made.detail;
  EXPECT_EQ(made.response.body, "PUT /a?b=c body");
  EXPECT_EQ(made.response.headers.get("x-other"), "y");
  EXPECT_EQ(fetch(server.url(), make_request("GET", "/other"), guard).response.body, "GET /other ");
  EXPECT_EQ(fetch(server.url() + "?q", make_request("GET", "/"), guard).response.body, "GET /?q ");
}

TEST(fetch, says_what_is_wrong_with_an_address) {
  EXPECT_THAT(fetch("orders", {}, guard).detail, HasSubstr("no scheme"));
  auto const made = fetch("http://127.0.0.1:" + std::to_string(closed_port()), {}, guard);
  EXPECT_EQ(made.failure, transport_failure::connect);
  EXPECT_THAT(made.detail, HasSubstr("refused"));
}

}  // namespace
}  // namespace atone::http
