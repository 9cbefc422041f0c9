// A plain HTTP server made of one function, and the surroundings of a command of `atone` against the real network.
// Thread rules: for one test each; the server's function runs in its own thread.
#pragma once

#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <gtest/gtest.h>

#include <atone/http.hpp>

#include "cli/command.hpp"
#include "cli/parse.hpp"

namespace examples_test {

class scripted_server {
 public:
  // Nothing: the connection is dropped without an answer.
  using answering = std::function<std::optional<atone::http::response>(atone::http::request const&)>;

  explicit scripted_server(answering how)
      : how_(std::move(how)), server_(io_, atone::http::server_options{}, [this](atone::http::request what, atone::http::responder reply) {
          auto answer = how_(what);
          if (answer) return reply.send(std::move(*answer));
          reply.drop();
        }) {
    EXPECT_TRUE(server_.start().has_value());
    port_ = server_.port();
    loop_ = std::thread{[this] { io_.run(); }};
  }
  ~scripted_server() { stop(); }

  std::uint16_t port() const noexcept { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  void stop() {
    if (!loop_.joinable()) return;
    boost::asio::post(io_, [this] { server_.stop(std::chrono::seconds{2}, [] {}); });
    loop_.join();
  }

 private:
  answering how_;
  boost::asio::io_context io_;
  atone::http::server server_;
  std::thread loop_;
  std::uint16_t port_ = 0;
};

class world {
 public:
  explicit world(std::string daemon_url = "http://127.0.0.1:1") : url_(std::move(daemon_url)) {}

  atone::cli::surroundings const& with() const { return with_; }
  atone::cli::exit_code run(std::vector<std::string> words) {
    auto const line = atone::cli::parse_line(std::move(words), out_, err_);
    if (line.command == nullptr) return line.code;
    return line.command->run(line.typed, with_);
  }
  // What stands on standard input.
  void type(std::string const& text) { input_.str(text); }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

 private:
  static atone::cli::api_answer fetch(atone::cli::api_request what) {
    atone::http::request send;
    send.method = what.method;
    send.body = std::move(what.body);
    for (auto const& [name, value] : what.headers) send.headers.add(name, value);
    auto came = atone::http::fetch(what.url, std::move(send), what.timeout);
    atone::cli::api_answer answer;
    answer.failure = came.failure;
    answer.detail = std::move(came.detail);
    answer.status = came.response.status;
    answer.body = std::move(came.response.body);
    return answer;
  }

  std::string url_;
  std::ostringstream out_;
  std::ostringstream err_;
  std::istringstream input_;
  atone::cli::terminal screen_{out_, err_, atone::cli::terminal_traits{}};
  atone::cli::surroundings with_{screen_,
                                 input_,
                                 fetch,
                                 [](atone::duration) { std::this_thread::yield(); },
                                 [] { return atone::timestamp{std::chrono::hours{24 * 365 * 50}}; },
                                 "tester",
                                 url_,
                                 "",
                                 "memory:"};
};

}  // namespace examples_test
