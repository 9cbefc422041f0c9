// atoned as a process: started on a free port, spoken to over HTTP, stopped by its pid.
#include <signal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <sstream>
#include <thread>

#include <atone/http.hpp>
#include <atone/json.hpp>

#include "daemon_process.hpp"
#include "http_scripted_peer.hpp"
#include "http_test_certificate.hpp"

namespace atone {
namespace {

using namespace std::chrono_literals;
using namespace atone_test;
using testing::HasSubstr;
using testing::StartsWith;

constexpr duration patience = 20s;

http::exchange ask(std::string const& url, std::string method, std::string body = {}, std::string const& key = {}) {
  http::request what;
  what.method = std::move(method);
  what.body = std::move(body);
  if (!what.body.empty())
    what.headers.add("Content-Type", url.find("/definitions") == std::string::npos ? "application/json" : "application/yaml");
  if (!key.empty()) what.headers.add("Idempotency-Key", key);
  return http::fetch(url, what, patience);
}

std::string text(std::string const& body, std::string_view key) {
  auto const parsed = json::parse(body);
  auto const found = parsed && parsed->type() == json::kind::object ? parsed->find(key) : std::nullopt;
  return found && found->type() == json::kind::string ? found->as_string() : "";
}

std::string definition(std::string const& orders) {
  return "saga: order\nversion: 1\n"
         "input: {type: object, required: [id], properties: {id: {type: integer}}}\n"
         "services: {orders: {http: \"" +
         orders +
         "\"}}\n"
         "defaults:\n  retry: {attempts: 5, delay: 1ms, jitter: none}\n"
         "steps:\n"
         "  - id: create\n    call: orders POST /orders\n    in: {id: =input.id}\n"
         "    compensate: {call: orders DELETE /orders, in: {id: =input.id}}\n"
         "output: {answer: =steps.create.out}\n";
}

// Answers every request with the same text.
scripted_peer::script always(std::string answer) {
  return [answer = std::move(answer)](raw_connection& c) {
    while (!c.read_message().empty()) c.send(answer);
  };
}

std::string const created = "HTTP/1.1 201 Created\r\nContent-Length: 27\r\n\r\n{\"order\": 9007199254740993}";

TEST(daemon, drives_a_saga_over_http_and_stops_on_sigterm) {
  scratch folder;
  scripted_peer orders{always(created)};
  daemon_process atoned{{"--store", folder.store()}, folder.file("log")};
  auto const url = atoned.url();
  ASSERT_THAT(url, StartsWith("http://127.0.0.1:")) << atoned.log();
  EXPECT_EQ(ask(url + "/ready", "GET").response.status, 200);
  EXPECT_EQ(ask(url + "/v1/definitions", "POST", definition(orders.url())).response.status, 201);
  auto const made = ask(url + "/v1/sagas/order?wait=20s", "POST", R"({"id": 7})", "order-7");
  ASSERT_EQ(made.response.status, 201) << made.response.body;
  EXPECT_EQ(text(made.response.body, "status"), "completed");
  EXPECT_THAT(made.response.body, HasSubstr(R"("output":{"answer":{"order": 9007199254740993}})"));
  atoned.signal(SIGTERM);
  EXPECT_EQ(atoned.wait(), 0);
  EXPECT_THAT(atoned.log(), HasSubstr(R"("message":"stopped")"));
}

TEST(daemon, log_lines_are_json) {
  scratch folder;
  daemon_process atoned{{"--store", folder.store()}, folder.file("log")};
  ASSERT_FALSE(atoned.url().empty());
  atoned.signal(SIGINT);
  EXPECT_EQ(atoned.wait(), 0);
  std::istringstream lines{atoned.log()};
  std::string line;
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    auto const parsed = json::parse(line);
    ASSERT_TRUE(parsed) << line;
    EXPECT_TRUE(parsed->find("time") && parsed->find("level") && parsed->find("message")) << line;
    ++count;
  }
  EXPECT_GE(count, 3u);
}

TEST(daemon, goes_on_with_a_saga_after_sigkill) {
  scratch folder;
  std::atomic<bool> down{true};
  scripted_peer orders{[&](raw_connection& c) {
    while (!c.read_message().empty()) {
      if (down) return c.stall();
      c.send(created);
    }
  }};
  std::string id;
  {
    daemon_process atoned{{"--store", folder.store()}, folder.file("log")};
    auto const url = atoned.url();
    ask(url + "/v1/definitions", "POST", definition(orders.url()));
    auto const started = ask(url + "/v1/sagas/order", "POST", R"({"id": 7})", "order-7");
    ASSERT_EQ(started.response.status, 201);
    id = text(started.response.body, "id");
    atoned.signal(SIGKILL);
    EXPECT_EQ(atoned.wait(), -SIGKILL);
  }
  down = false;
  daemon_process again{{"--store", folder.store()}, folder.file("log")};
  auto const url = again.url();
  ASSERT_FALSE(url.empty()) << again.log();
  auto const ended = ask(url + "/v1/sagas/" + id + "/wait?timeout=15s", "GET");
  EXPECT_EQ(text(ended.response.body, "status"), "completed") << ended.response.body;
  auto const replayed = ask(url + "/v1/sagas/order", "POST", R"({"id": 7})", "order-7");
  EXPECT_EQ(replayed.response.status, 200);
  EXPECT_EQ(text(replayed.response.body, "id"), id);
}

TEST(daemon, a_stop_answers_those_who_wait) {
  scratch folder;
  std::promise<void> asked;
  scripted_peer orders{[&](raw_connection& c) {
    c.read_message();
    asked.set_value();
    c.stall();
  }};
  daemon_process atoned{{"--store", folder.store(), "--grace", "1s"}, folder.file("log")};
  auto const url = atoned.url();
  ask(url + "/v1/definitions", "POST", definition(orders.url()));
  http::exchange waited;
  std::thread waiting{[&] { waited = ask(url + "/v1/sagas/order?wait=20s", "POST", R"({"id": 7})"); }};
  asked.get_future().wait();
  atoned.signal(SIGTERM);
  waiting.join();
  EXPECT_EQ(waited.response.status, 503) << waited.detail;
  EXPECT_EQ(atoned.wait(), 0);
}

TEST(daemon, a_store_that_is_taken_is_a_clear_end) {
  scratch folder;
  daemon_process first{{"--store", folder.store()}, folder.file("log-1")};
  ASSERT_FALSE(first.url().empty());
  daemon_process second{{"--store", folder.store()}, folder.file("log-2")};
  EXPECT_TRUE(second.url().empty());
  EXPECT_EQ(second.wait(), 1);
  EXPECT_THAT(second.log(), HasSubstr(R"("level":"error")"));
}

TEST(daemon, speaks_tls_and_asks_for_its_token) {
  scratch folder;
  test_certificate const certificate{"IP:127.0.0.1"};
  daemon_process atoned{{"--store", "memory:", "--token", "ops:0123456789abcdef", "--tls-certificate", certificate.certificate_file(),
                         "--tls-key", certificate.key_file()},
                        folder.file("log")};
  auto const url = atoned.url();
  ASSERT_THAT(url, StartsWith("https://")) << atoned.log();
  http::tls_options tls;
  tls.ca_file = certificate.certificate_file();
  EXPECT_EQ(http::fetch(url + "/v1/stats", {}, patience, tls).response.status, 401);
  http::request shown;
  shown.headers.add("Authorization", "Bearer 0123456789abcdef");
  EXPECT_EQ(http::fetch(url + "/v1/stats", shown, patience, tls).response.status, 200);
  EXPECT_THAT(atoned.log(), testing::Not(HasSubstr("0123456789abcdef"))) << "secrets are not logged";
}

}  // namespace
}  // namespace atone
