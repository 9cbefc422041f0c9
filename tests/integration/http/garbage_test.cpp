// Whatever comes over the wire: no crash, no hang, and the next one is served.
#include <gtest/gtest.h>

#include <mutex>
#include <random>

#include "http_loop.hpp"
#include "http_scripted_peer.hpp"

namespace atone::http {
namespace {

using namespace std::chrono_literals;
using namespace atone_test;

constexpr int rounds = 300;

std::string garbage(std::mt19937& random, std::string const& seed) {
  std::string made = random() % 3 == 0 ? std::string{} : seed.substr(0, random() % seed.size());
  auto const count = random() % 200;
  for (unsigned n = 0; n < count; ++n) made += static_cast<char>(random());
  return made;
}

TEST(garbage, to_the_server_does_no_harm) {
  std::atomic<int> served{0};
  test_server server{[&](request, responder way) {
    ++served;
    way.send(response{200, "{}"});
  }};
  std::mt19937 random{4711};
  for (int round = 0; round < rounds; ++round) {
    raw_connection client{raw_connection::dial(server.port())};
    client.send(garbage(random, "POST /v1/sagas HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"));
    if (random() % 2 == 0) {
      client.reset();
      continue;
    }
    client.finish_sending();
    auto const answer = client.read_to_end();
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 ")) << answer;
  }
  auto const before = served.load();
  EXPECT_TRUE(fetch(server.url(), {}, guard).ok());
  EXPECT_EQ(served, before + 1);
}

TEST(garbage, to_the_client_ends_each_call_once) {
  std::mt19937 random{815};
  std::mutex guard_text;
  std::string text;
  scripted_peer peer{[&](raw_connection& c) {
    c.read_message();
    std::lock_guard const lock{guard_text};
    c.send(text);
  }};
  test_client test;
  for (int round = 0; round < rounds; ++round) {
    {
      std::lock_guard const lock{guard_text};
      text = garbage(random, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    }
    auto const made = test.call(origin_of(peer.url()), make_request("POST", "/", "{}"));
    EXPECT_NE(made.failure, transport_failure::connect) << "the request had left";
    EXPECT_NE(made.failure, transport_failure::timeout) << "the peer has closed";
  }
}

}  // namespace
}  // namespace atone::http
