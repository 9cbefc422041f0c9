// The server spoken to byte by byte, and its responders used from every thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

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

// What is kept until a test answers it.
class kept_requests {
 public:
  void take(request what, responder way) {
    std::lock_guard const lock{guard_};
    kept_.emplace_back(std::move(what), std::move(way));
    came_.notify_all();
  }
  std::pair<request, responder> next() {
    std::unique_lock lock{guard_};
    if (!came_.wait_for(lock, 20s, [&] { return !kept_.empty(); })) throw std::runtime_error{"no request came"};
    auto made = std::move(kept_.front());
    kept_.pop_front();
    return made;
  }
  server::handler handler() {
    return [this](request what, responder way) { take(std::move(what), std::move(way)); };
  }

 private:
  std::mutex guard_;
  std::condition_variable came_;
  std::deque<std::pair<request, responder>> kept_;
};

TEST(server, answers_with_length_and_date) {
  test_server server{echo};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n");
  auto const answer = client.read_message();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_THAT(answer, HasSubstr(" GMT\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nGET /a?b "));
}

TEST(server, handles_pipelined_requests_in_order) {
  test_server server{echo};
  raw_connection client{raw_connection::dial(server.port())};
  std::string all;
  for (int n = 0; n < 200; ++n) {
    all += "POST /" + std::to_string(n) + " HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n" + std::to_string(n % 10);
  }
  client.send(all);
  for (int n = 0; n < 200; ++n) {
    EXPECT_THAT(client.read_message(), HasSubstr("POST /" + std::to_string(n) + " " + std::to_string(n % 10)));
  }
}

TEST(server, pipelined_requests_wait_for_the_answer_before_them) {
  kept_requests kept;
  test_server server{kept.handler()};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
  auto first = kept.next();
  EXPECT_EQ(first.first.target, "/1");
  first.second.send(response{200, "one"});
  EXPECT_THAT(client.read_message(), HasSubstr("one"));
  auto second = kept.next();
  EXPECT_EQ(second.first.target, "/2");
  second.second.send(response{200, "two"});
  EXPECT_THAT(client.read_message(), HasSubstr("two"));
}

TEST(server, passes_every_method_on) {
  test_server server{echo};
  for (auto const* method : {"TRACE", "PURGE", "DELETE", "OPTIONS", "PATCH", "m-search"}) {
    raw_connection client{raw_connection::dial(server.port())};
    client.send(std::string{method} + " /x HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(client.read_message(), HasSubstr(std::string{method} + " /x "));
  }
}

TEST(server, a_head_answer_is_all_but_the_body) {
  test_server server{echo};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("Content-Length: 8\r\n"));
  EXPECT_THAT(client.read_message(), HasSubstr("GET /next"));
}

TEST(server, takes_chunked_bodies) {
  test_server server{echo};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_THAT(client.read_message(), HasSubstr("POST / abcde"));
}

TEST(server, invites_a_body_that_waits_for_it) {
  test_server server{echo};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_THAT(client.read_message(), HasSubstr("POST / abc"));
}

TEST(server, closes_when_asked_and_says_so) {
  test_server server{echo};
  for (auto const* text : {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    raw_connection client{raw_connection::dial(server.port())};
    client.send(text);
    EXPECT_THAT(client.read_message(), HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(client.at_end());
  }
}

TEST(server, a_half_closed_client_gets_its_answer) {
  kept_requests kept;
  test_server server{kept.handler()};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("GET / HTTP/1.1\r\n\r\n");
  client.finish_sending();
  kept.next().second.send(response{200, "late"});
  EXPECT_THAT(client.read_to_end(), HasSubstr("late"));
}

TEST(server, a_handler_that_throws_is_answered_500) {
  test_server server{[](request, responder) { throw std::runtime_error{"out of \"luck\""}; }};
  auto const made = fetch(server.url(), {}, guard);
  EXPECT_EQ(made.response.status, 500);
  EXPECT_EQ(made.response.body, R"({"error":{"code":"internal","message":"out of \"luck\""}})");
}

TEST(responder, drop_closes_without_an_answer) {
  test_server server{[](request, responder way) { way.drop(); }};
  EXPECT_EQ(fetch(server.url(), {}, guard).failure, transport_failure::lost);
}

TEST(responder, one_that_is_forgotten_closes_without_an_answer) {
  test_server server{[](request, responder) {}};
  EXPECT_EQ(fetch(server.url(), {}, guard).failure, transport_failure::lost);
}

TEST(responder, only_the_first_answer_counts) {
  test_server server{[](request, responder way) {
    way.send(response{200, "first"});
    way.send(response{500, "second"});
    way.drop();
  }};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  auto const all = client.read_to_end();
  EXPECT_THAT(all, testing::Not(HasSubstr("second")));
}

TEST(responder, a_default_made_one_answers_nobody) {
  responder nobody;
  EXPECT_FALSE(nobody);
  nobody.send(response{});
  nobody.drop();
}

TEST(responder, may_answer_after_the_client_has_gone) {
  kept_requests kept;
  test_server server{kept.handler()};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("GET / HTTP/1.1\r\n\r\n");
  auto pending = kept.next();
  client.reset();
  pending.second.send(response{200, std::string(1'000'000, 'x')});
  raw_connection other{raw_connection::dial(server.port())};
  other.send("GET / HTTP/1.1\r\n\r\n");
  kept.next().second.send(response{200, "fine"});
  EXPECT_THAT(other.read_message(), HasSubstr("fine"));
}

TEST(responder, may_outlive_the_server) {
  kept_requests kept;
  std::optional<test_server> server{std::in_place, kept.handler()};
  raw_connection client{raw_connection::dial(server->port())};
  client.send("GET / HTTP/1.1\r\n\r\n");
  auto pending = kept.next();
  server.reset();
  pending.second.send(response{200, "too late"});
  EXPECT_EQ(client.read_to_end(), "");
}

// Answers come from other threads while the loop takes more requests: what the thread sanitizer looks at.
TEST(responder, answers_from_many_threads) {
  kept_requests kept;
  test_server server{kept.handler()};
  constexpr int each = 50;
  std::vector<std::thread> threads;
  for (int n = 0; n < 3; ++n) {
    threads.emplace_back([&] {
      for (int count = 0; count < each; ++count) {
        auto [what, way] = kept.next();
        if (what.target == "/drop") {
          way.drop();
        } else {
          way.send(response{200, what.body});
        }
      }
    });
  }
  test_client test;
  int done = 0;
  int lost = 0;
  for (int n = 0; n < 3 * each; ++n) {
    bool const dropped = n % 10 == 0;
    auto const body = std::to_string(n);
    test.client.send(origin_of(server.url()), make_request("POST", dropped ? "/drop" : "/", body), guard,
                     [&, dropped, body](exchange made) {
                       ++done;
                       if (dropped) {
                         lost += made.failure == transport_failure::lost ? 1 : 0;
                       } else {
                         EXPECT_EQ(made.response.body, body);
                       }
                     });
  }
  run_until(test.io, [&] { return done == 3 * each; });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(lost, 3 * each / 10);
}

}  // namespace
}  // namespace atone::http
