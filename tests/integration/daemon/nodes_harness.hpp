// Nodes on one database inside the test's process: each a coordinator with its API on a port of its own. Their participant accepts
// every call with 202, so that a saga is under way until it is reported or undone.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <atone/json.hpp>

#include "api/service.hpp"
#include "http_loop.hpp"
#include "postgres_server.hpp"

namespace atone::api {

inline constexpr std::chrono::seconds patience{20};

// Until it holds; nothing tells a test when another node has looked at the store.
inline bool eventually(std::function<bool()> const& holds) {
  auto const end = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Takes every action without an answer, and keeps where each is to be reported.
class accepting_participant {
 public:
  accepting_participant() : server_([this](http::request asked, http::responder to) { take(asked, std::move(to)); }) {}

  std::string url() const { return server_.url(); }
  // Path and query of the report for a saga's action, once it was called.
  std::string report_target(std::string const& saga) {
    std::string found;
    EXPECT_TRUE(eventually([&] {
      std::lock_guard const held{lock_};
      auto const at = reports_.find(saga);
      if (at != reports_.end()) found = at->second;
      return !found.empty();
    }));
    return found.substr(found.find("/v1/"));
  }

 private:
  void take(http::request const& asked, http::responder to) {
    bool const action = asked.method == "POST";
    if (action) {
      std::lock_guard const held{lock_};
      reports_[std::string{asked.headers.get(headers::saga)}] = asked.headers.get(headers::callback);
    }
    to.send(http::response{action ? 202 : 200, "{}"});
  }

  std::mutex lock_;
  std::map<std::string, std::string> reports_;
  atone_test::test_server server_;  // last: it calls the members above
};

struct node_settings {
  std::optional<std::string> address;    // told to the others instead of its own
  std::optional<http::tls_options> tls;  // of its own door
  service_options service;

  node_settings() = default;
};

class test_node {
 public:
  test_node(std::string const& name, std::string const& store, std::string const& participant, node_settings with = {})
      : server_(std::make_unique<atone_test::test_server>(
            [this](http::request asked, http::responder to) { answer(std::move(asked), std::move(to)); }, door(with))),
        url_(server_->url()) {
    options how{store};
    how.node = node_id{name};
    how.address = with.address.value_or(url_);
    how.callback_base = url_;
    how.addresses["a"] = participant;
    auto opened = coordinator::open(std::move(how));
    if (!opened) throw std::runtime_error{opened.error().message};
    sagas = *std::move(opened);
    if (auto const running = sagas->run(); !running) throw std::runtime_error{running.error().message};
    with.service.forward.node = name;
    std::lock_guard const held{lock_};
    served = std::make_shared<service>(*sagas, std::move(with.service));
  }
  ~test_node() { stop(); }
  test_node(test_node const&) = delete;
  test_node& operator=(test_node const&) = delete;

  std::string const& url() const noexcept { return url_; }

  using fields = std::vector<std::pair<std::string, std::string>>;
  std::future<http::response> begin(std::string method, std::string target, std::string body = {}, fields const& headers = {}) {
    http::request what;
    what.method = std::move(method);
    what.target = std::move(target);
    what.body = std::move(body);
    what.headers.add("Host", "127.0.0.1:7070");
    for (auto const& [name, value] : headers) what.headers.add(name, value);
    auto const promise = std::make_shared<std::promise<http::response>>();
    served->handle(std::move(what), [promise](http::response made) { promise->set_value(std::move(made)); });
    return promise->get_future();
  }
  http::response ask(std::string method, std::string target, std::string body = {}, fields const& headers = {}) {
    return come(begin(std::move(method), std::move(target), std::move(body), headers));
  }
  static http::response come(std::future<http::response> from) {
    if (from.wait_for(patience) != std::future_status::ready) throw std::runtime_error{"no answer came"};
    return from.get();
  }

  std::string start(fields const& headers = {}) {
    auto const made = ask("POST", "/v1/sagas/one", R"({"n": 1})", headers);
    EXPECT_EQ(made.status, 201) << made.body;
    auto const parsed = json::parse(made.body);
    return parsed && parsed->find("id") ? parsed->find("id")->as_string() : std::string{};
  }
  // How many it drives. Asked at the pace of the store: one round trip each time.
  std::size_t shards() const {
    static_cast<void>(sagas->read([](journal_reader& from) -> result<void> {
      auto const counts = from.counts();
      return counts ? result<void>{} : counts.error();
    }));
    auto const nodes = sagas->nodes();
    if (!nodes) return 0;
    for (auto const& one : *nodes) {
      if (one.here) return one.shards;
    }
    return 0;
  }
  std::string metrics() { return ask("GET", "/metrics").body; }

  // Nobody answers at its address any more; it drives on.
  void close_door() { server_.reset(); }
  // As a node that is told to stop: what it drives is free afterwards.
  void stop() {
    if (stopped_) return;
    stopped_ = true;
    served->release_waiting();
    served->stop();
    sagas->stop(std::chrono::milliseconds{100});  // the participant's answers are not waited for
    server_.reset();
  }

  std::unique_ptr<coordinator> sagas;
  std::shared_ptr<service> served;

 private:
  void answer(http::request asked, http::responder to) {
    std::shared_ptr<service> by;
    {
      std::lock_guard const held{lock_};
      by = served;
    }
    if (!by) return to.drop();
    by->handle(std::move(asked), [to = std::move(to)](http::response made) mutable { to.send(std::move(made)); });
  }
  static http::server_options door(node_settings const& with) {
    http::server_options made;
    made.tls = with.tls;
    return made;
  }

  std::mutex lock_;
  std::unique_ptr<atone_test::test_server> server_;
  std::string url_;
  bool stopped_ = false;
};

// Two nodes, `a` and `b`, that have come to share the shards.
class two_nodes {
 public:
  explicit two_nodes(node_settings of_a = {}, node_settings of_b = {}) {
    auto& server = test::postgres_server::shared();
    auto const store = server.address(server.make_database());
    a = std::make_unique<test_node>("a", store, participant.url(), std::move(of_a));
    if (auto const made = a->sagas->publish(one_step); !made) throw std::runtime_error{made.error().message};
    b = std::make_unique<test_node>("b", store, participant.url(), std::move(of_b));
    bool const balanced = eventually([this] { return a->shards() == 32 && b->shards() == 32; });
    if (!balanced) throw std::runtime_error{"the shards were not shared out"};
  }

  accepting_participant participant;
  std::unique_ptr<test_node> a, b;

 private:
  static constexpr std::string_view one_step = R"(saga: one
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: s
    call: a POST /s
    in: {n: =input.n}
    attempt_timeout: 1h
    compensate: {call: a DELETE /s, in: {n: =input.n}}
output: =steps.s.out
)";
};

inline std::string error_code(http::response const& from) {
  auto const parsed = json::parse(from.body);
  auto const inner = parsed ? parsed->find("error") : std::nullopt;
  return inner ? inner->find("code").value().as_string() : "";
}

}  // namespace atone::api
