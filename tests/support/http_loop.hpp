// An io_context driven by the test's own thread, and a server with a thread of its own. A test that waits for something that
// never comes fails after `guard`.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <atone/http.hpp>

namespace atone_test {

inline constexpr std::chrono::seconds guard{20};

// Runs the loop until `done` holds.
inline void run_until(boost::asio::io_context& io, std::function<bool()> const& done) {
  auto const end = std::chrono::steady_clock::now() + guard;
  auto const work = boost::asio::make_work_guard(io);
  io.restart();
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"run_until: waited in vain"};
    io.run_one_for(std::chrono::milliseconds{100});
  }
}

// A client with a loop of its own, for one request after another or several at once.
class test_client {
 public:
  explicit test_client(atone::http::client_options options = {}) : client(io, std::move(options)) {}

  atone::http::exchange call(atone::http::origin const& to, atone::http::request what, atone::duration timeout = guard) {
    std::optional<atone::http::exchange> came;
    client.send(to, std::move(what), timeout, [&](atone::http::exchange made) { came = std::move(made); });
    run_until(io, [&] { return came.has_value(); });
    return *std::move(came);
  }

  boost::asio::io_context io{1};
  atone::http::client client;
};

inline atone::http::origin origin_of(std::string const& url) {
  auto made = atone::http::parse_origin(url);
  if (!made) throw std::runtime_error{made.error().message};
  return *made;
}

inline atone::http::request make_request(std::string method, std::string target, std::string body = {}) {
  atone::http::request made;
  made.method = std::move(method);
  made.target = std::move(target);
  made.body = std::move(body);
  return made;
}

// A server whose io_context runs in a thread.
class test_server {
 public:
  explicit test_server(atone::http::server::handler answer, atone::http::server_options options = {})
      : secure_(options.tls.has_value()), server_(std::make_unique<atone::http::server>(io_, std::move(options), std::move(answer))) {
    auto started = server_->start();
    if (!started) throw std::runtime_error{started.error().message};
    port_ = server_->port();
    thread_ = std::thread{[this] { io_.run(); }};
  }
  ~test_server() {
    boost::asio::post(io_, [this] {
      server_.reset();
      work_.reset();
    });
    thread_.join();
  }
  test_server(test_server const&) = delete;
  test_server& operator=(test_server const&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  std::string url() const { return (secure_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_); }
  boost::asio::io_context& io() noexcept { return io_; }

  // Begins a graceful stop; the future is ready once nothing is left.
  std::future<void> stop(atone::duration grace) {
    auto const stopped = std::make_shared<std::promise<void>>();
    auto future = stopped->get_future();
    boost::asio::post(io_, [this, grace, stopped] { server_->stop(grace, [stopped] { stopped->set_value(); }); });
    return future;
  }

 private:
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  bool secure_;
  std::unique_ptr<atone::http::server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace atone_test
