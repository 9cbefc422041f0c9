// Calls to HTTP participants through the whole library: headers, the table of answers, 202 with polling and callback, the breaker.
#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <atone/coordinator.hpp>
#include <atone/http.hpp>

namespace atone {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// A participant on a free port, answering by a function.
class participant {
 public:
  using answering = std::function<void(http::request const&, http::responder)>;

  explicit participant(answering how, std::uint16_t port = 0) : how_(std::move(how)) {
    http::server_options where;
    where.port = port;
    server_ = std::make_unique<http::server>(io_, where, [this](http::request asked, http::responder to) {
      {
        std::lock_guard const held{lock_};
        requests_.push_back(asked);
      }
      how_(asked, std::move(to));
    });
    auto const started = server_->start();
    if (!started) throw std::runtime_error{started.error().message};
    port_ = server_->port();
    thread_ = std::thread{[this] { io_.run(); }};
  }
  ~participant() {
    boost::asio::post(io_, [this] { server_->stop(duration{0}, [this] { guard_.reset(); }); });
    thread_.join();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::uint16_t port() const { return port_; }
  std::vector<http::request> requests() const {
    std::lock_guard const held{lock_};
    return requests_;
  }

 private:
  answering how_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{io_.get_executor()};
  std::unique_ptr<http::server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
  mutable std::mutex lock_;
  std::vector<http::request> requests_;
};

std::string const one_step = R"(saga: one
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
defaults:
  attempt_timeout: 2s
  retry: {attempts: 3, delay: 1ms, jitter: none}
  compensate: {attempts: 3, delay: 1ms, jitter: none}
steps:
  - id: s
    call: a POST /s/{who}
    in: {who: =input.who, amount: =input.amount}
    compensate:
      call: a DELETE /s/{who}
      in: {who: =input.who}
output: =steps.s.out
)";

std::unique_ptr<coordinator> open(participant const& to, std::string const& yaml = one_step, std::string callback = {},
                                  duration poll_limit = std::chrono::hours{24}) {
  options how{"memory:"};
  how.addresses["a"] = to.url();
  how.callback_base = std::move(callback);
  how.breaker_open = std::chrono::milliseconds{50};
  how.poll_limit = poll_limit;
  auto opened = coordinator::open(how);
  if (!opened) throw std::runtime_error{opened.error().message};
  if (auto const published = (*opened)->publish(yaml); !published) throw std::runtime_error{published.error().message};
  if (auto const running = (*opened)->run(); !running) throw std::runtime_error{running.error().message};
  return std::move(*opened);
}

std::string const input = R"({"who": "a b", "amount": 9007199254740993})";

TEST(http_calls, what_a_request_carries) {
  participant to{[](http::request const&, http::responder out) { out.send(http::response{200, R"({"n": 1E400})"}); }};
  auto const sagas = open(to);
  auto const view = sagas->run("one", business_key{"k"}, input, std::chrono::seconds{20});
  ASSERT_TRUE(view.has_value());
  EXPECT_TRUE(view->completed()) << view->row.cause;
  EXPECT_EQ(view->row.output, R"({"n": 1E400})");
  auto const seen = to.requests();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].method + ' ' + seen[0].target, "POST /s/a%20b");
  EXPECT_EQ(seen[0].body, R"({"who":"a b","amount":9007199254740993})");
  EXPECT_EQ(seen[0].headers.get("Content-Type"), "application/json");
  EXPECT_EQ(seen[0].headers.get(headers::saga), view->row.id.text());
  EXPECT_EQ(seen[0].headers.get(headers::step), "s");
  EXPECT_EQ(seen[0].headers.get(headers::op), "do");
  EXPECT_EQ(seen[0].headers.get(headers::attempt), "1");
  EXPECT_EQ(seen[0].headers.get(headers::epoch), "1");
  EXPECT_EQ(seen[0].headers.get(headers::deadline), "2000");
  EXPECT_EQ(std::string{seen[0].headers.get(headers::idempotency_key)}, trace_id::of(view->row.id, step_path{"s"}, operation::act).text());
  EXPECT_THAT(std::string{seen[0].headers.get(headers::traceparent)}, MatchesRegex("00-[0-9a-f]{32}-[0-9a-f]{16}-01"));
}

// B-28: a table of answers, and no other behaviour.
TEST(http_calls, b28_each_status_has_one_meaning) {
  struct line {
    int status;
    saga_status end;
    std::size_t attempts;     // of the action, when it always answers so
    std::size_t compensated;  // requests to undo it
  };
  for (auto const& [status, end, attempts, undo] :
       {line{200, saga_status::completed, 1, 0}, line{201, saga_status::completed, 1, 0}, line{204, saga_status::completed, 1, 0},
        line{301, saga_status::compensated, 1, 0}, line{400, saga_status::compensated, 1, 0}, line{404, saga_status::compensated, 1, 0},
        line{409, saga_status::compensated, 1, 0}, line{422, saga_status::compensated, 1, 0}, line{408, saga_status::compensated, 3, 1},
        line{425, saga_status::compensated, 3, 0}, line{429, saga_status::compensated, 3, 0}, line{500, saga_status::compensated, 3, 1},
        line{503, saga_status::compensated, 3, 1}}) {
    SCOPED_TRACE(status);
    participant to{[code = status](http::request const& asked, http::responder out) {
      out.send(http::response{asked.method == "DELETE" ? 200 : code, code == 204 ? "" : "{}"});
    }};
    auto const sagas = open(to);
    auto const view = sagas->run("one", business_key{}, input, std::chrono::seconds{20});
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->row.status, end) << view->row.cause;
    std::size_t posts = 0;
    std::size_t deletes = 0;
    std::set<std::string> keys;
    for (auto const& one : to.requests()) {
      ++(one.method == "POST" ? posts : deletes);
      if (one.method == "POST") keys.insert(std::string{one.headers.get(headers::idempotency_key)});
    }
    EXPECT_EQ(posts, attempts);
    EXPECT_EQ(deletes, undo);
    EXPECT_EQ(keys.size(), 1U);
  }
}

// Words that no text column takes (NUL, broken UTF-8) neither park the saga nor spoil a batch.
TEST(http_calls, odd_bytes_in_a_refusal_are_made_readable) {
  std::string const odd{"no\0 \xff more", 10};
  participant to{[&](http::request const&, http::responder out) { out.send(http::response{409, odd}); }};
  auto const sagas = open(to);
  auto const view = sagas->run("one", business_key{}, input, std::chrono::seconds{20});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->row.status, saga_status::compensated);
  EXPECT_THAT(view->row.cause, HasSubstr("no\xEF\xBF\xBD \xEF\xBF\xBD more"));
}

TEST(http_calls, a_lost_reply_is_unknown_and_undone) {
  participant to{[](http::request const& asked, http::responder out) {
    if (asked.method == "DELETE") return out.send(http::response{200, "{}"});
    out.drop();
  }};
  auto const sagas = open(to);
  auto const view = sagas->run("one", business_key{}, input, std::chrono::seconds{20});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->row.status, saga_status::compensated);
  EXPECT_THAT(view->row.cause, HasSubstr("lost"));
  EXPECT_EQ(to.requests().back().method, "DELETE");
}

// B-22: slow work is not repeated: 202, then asking at Location costs no attempt.
TEST(http_calls, b22_still_working_is_polled_at_its_location) {
  std::atomic<int> polls{0};
  participant to{[&](http::request const& asked, http::responder out) {
    if (asked.method == "POST") {
      http::response accepted{202, "{}"};
      accepted.headers.add("Location", "/jobs/7");
      accepted.headers.add("Retry-After", "0");
      return out.send(std::move(accepted));
    }
    EXPECT_EQ(asked.target, "/jobs/7");
    http::response still{202, "{}"};
    still.headers.add("Retry-After", "0");
    if (++polls < 4) return out.send(std::move(still));
    out.send(http::response{200, R"({"made": true})"});
  }};
  auto const sagas = open(to);
  auto const view = sagas->run("one", business_key{}, input, std::chrono::seconds{20});
  ASSERT_TRUE(view.has_value());
  EXPECT_TRUE(view->completed()) << view->row.cause;
  EXPECT_EQ(view->row.output, R"({"made": true})");
  EXPECT_EQ(view->steps.size(), 1U);
  EXPECT_EQ(view->steps[0].attempts, 1U);
  EXPECT_EQ(polls, 4);
}

TEST(http_calls, a_location_on_another_host_is_not_asked) {
  participant to{[&](http::request const& asked, http::responder out) {
    if (asked.method == "DELETE") return out.send(http::response{200, "{}"});
    http::response accepted{202, "{}"};
    accepted.headers.add("Location", "http://127.0.0.2:9/steal");
    accepted.headers.add("Retry-After", "0");
    out.send(std::move(accepted));
  }};
  auto const sagas = open(to);
  auto const view = sagas->run("one", business_key{}, input, std::chrono::seconds{20});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->row.status, saga_status::compensated);
  EXPECT_THAT(view->row.cause, HasSubstr("another host"));
}

// The callback's token is bound to saga, step and attempt; a report is told as taken only when it is durable; twice is once.
TEST(http_calls, a_report_to_the_callback_ends_the_step) {
  std::promise<std::string> address;
  participant to{[&](http::request const& asked, http::responder out) {
    if (asked.method == "POST") address.set_value(std::string{asked.headers.get(headers::callback)});
    out.send(http::response{202, "{}"});
  }};
  auto const sagas = open(to, one_step, "http://127.0.0.1:7070");
  start_request what;
  what.saga = "one";
  what.input = input;
  auto const begun = sagas->start(what);
  ASSERT_TRUE(begun.has_value());
  auto const callback = address.get_future().get();
  EXPECT_THAT(callback, HasSubstr("/v1/callbacks/" + begun->id.text() + "/do/1?step=s&token="));
  auto const token = callback.substr(callback.find("token=") + 6);
  auto const report = [&](std::string const& with, attempt n) {
    std::promise<result<void>> told;
    sagas->async_report(begun->id, step_path{"s"}, operation::act, n, with, 200, R"({"by": "callback"})",
                        [&](result<void> outcome) { told.set_value(std::move(outcome)); });
    return told.get_future().get();
  };
  EXPECT_FALSE(report("0000", attempt{1}).has_value());
  EXPECT_FALSE(report(token, attempt{2}).has_value());
  EXPECT_TRUE(report(token, attempt{1}).has_value());
  auto const view = sagas->wait(begun->id, std::chrono::seconds{20});
  ASSERT_TRUE(view.has_value());
  EXPECT_TRUE(view->completed()) << view->row.cause;
  EXPECT_EQ(view->row.output, R"({"by": "callback"})");
  auto const again = report(token, attempt{1});
  ASSERT_FALSE(again.has_value());
  EXPECT_THAT(again.error().code, AnyOf(errc::not_found, errc::conflict));
}

// A callback that never comes is an unknown outcome, of a compensation too: neither waits for ever in silence.
TEST(http_calls, a_silent_callback_is_unknown_after_the_limit) {
  participant to{[&](http::request const&, http::responder out) { out.send(http::response{202, "{}"}); }};
  auto const sagas = open(to, one_step, "http://127.0.0.1:7070", std::chrono::milliseconds{5});
  auto const view = sagas->run("one", business_key{}, input, std::chrono::seconds{20});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->row.status, saga_status::parked);
  ASSERT_EQ(view->steps.size(), 1U);
  EXPECT_EQ(view->steps[0].attempts, 3U);
  EXPECT_EQ(view->steps[0].undo_attempts, 3U);
  EXPECT_THAT(view->steps[0].last_error, HasSubstr("nothing was reported to the callback"));
}

// While nobody listens the breaker holds calls back: no attempt is spent on it, and the saga goes on when the service is there.
TEST(http_calls, breaker_spends_no_attempts) {
  std::uint16_t port = 0;
  {
    participant probe{[](http::request const&, http::responder out) { out.send(http::response{200, "{}"}); }};
    port = probe.port();
  }
  options how{"memory:"};
  how.addresses["a"] = "http://127.0.0.1:" + std::to_string(port);
  how.breaker_open = std::chrono::milliseconds{20};
  auto opened = coordinator::open(how);
  ASSERT_TRUE(opened.has_value());
  auto patient = one_step;
  patient.replace(patient.find("  retry: {attempts: 3, delay: 1ms, jitter: none}"), 48, "  retry: {delay: 1ms, cap: 1ms, jitter: none}");
  ASSERT_TRUE((*opened)->publish(patient).has_value());
  ASSERT_TRUE((*opened)->run().has_value());
  start_request what;
  what.saga = "one";
  what.input = input;
  auto const begun = (*opened)->start(what);
  ASSERT_TRUE(begun.has_value());
  auto const meanwhile = (*opened)->wait(begun->id, std::chrono::milliseconds{300});
  ASSERT_TRUE(meanwhile.has_value());
  EXPECT_EQ(meanwhile->row.status, saga_status::running);
  ASSERT_EQ(meanwhile->steps.size(), 1U);
  EXPECT_FALSE(meanwhile->steps[0].maybe_sent);
  EXPECT_LE(meanwhile->steps[0].attempts, 6U);  // those that opened the breaker, and the one that waits
  participant late{[](http::request const&, http::responder out) { out.send(http::response{200, "{}"}); }, port};
  auto const view = (*opened)->wait(begun->id, std::chrono::seconds{20});
  ASSERT_TRUE(view.has_value());
  EXPECT_TRUE(view->completed()) << view->row.cause;
}

// B-07, the transport's half: an answer after the attempt was given up is recorded, and not used.
TEST(http_calls, a_late_answer_is_recorded_not_used) {
  std::promise<http::responder> held;
  auto const yaml = R"(saga: late
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
defaults: {attempt_timeout: 20s}
steps:
  - id: s
    call: a POST /s
    timeout: 100ms
    compensate: {call: a DELETE /s}
)";
  participant to{[&](http::request const& asked, http::responder out) {
    if (asked.method == "DELETE") return out.send(http::response{200, "{}"});
    held.set_value(std::move(out));
  }};
  auto const sagas = open(to, yaml);
  auto const view = sagas->run("late", business_key{}, "{}", std::chrono::seconds{20});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->row.status, saga_status::compensated);
  EXPECT_THAT(view->row.cause, HasSubstr("timed out after 100ms"));
  held.get_future().get().send(http::response{200, R"({"too": "late"})"});
  EXPECT_EQ(sagas->get(view->row.id)->row.status, saga_status::compensated);
}

}  // namespace
}  // namespace atone
