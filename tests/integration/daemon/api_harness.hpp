// The API over a real coordinator on a store in memory, without sockets: a request goes in, its answer comes out.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <atone/json.hpp>

#include "api/service.hpp"

namespace atone::api {

inline constexpr std::chrono::seconds guard{20};

inline std::string const shop_definition = R"(saga: two
version: 1
input: {type: object, required: [amount], properties: {amount: {type: integer, minimum: 1}}}
services: {shop: {local: shop}}
defaults:
  retry: {attempts: 3, delay: 1ms, jitter: none}
  compensate: {attempts: 3, delay: 1ms, jitter: none}
steps:
  - id: charge
    call: shop charge
    in: {amount: =input.amount}
    compensate: {call: shop refund, in: {amount: =input.amount}}
  - id: ship
    call: shop ship
    in: {}
    compensate: {call: shop unship, in: {}}
output: {receipt: =steps.charge.out.receipt}
)";

class api_test : public testing::Test {
 protected:
  explicit api_test(service_options with = {}, options how = options{"memory:"}) {
    auto opened = coordinator::open(std::move(how));
    if (!opened) throw std::runtime_error{opened.error().message};
    sagas = *std::move(opened);
    bind();
    if (auto const published = sagas->publish(shop_definition); !published) throw std::runtime_error{published.error().message};
    if (auto const running = sagas->run(); !running) throw std::runtime_error{running.error().message};
    with.version = "1.2.3";
    served = std::make_unique<service>(*sagas, std::move(with));
  }
  ~api_test() override {
    {
      std::lock_guard const lock{held_guard_};
      for (auto& gate : held_) gate.set_value();
      held_.clear();
      holding_ = false;
    }
    served->release_waiting();
    served->stop();
    sagas->stop();
  }

  using fields = std::vector<std::pair<std::string, std::string>>;

  // The answer, once it comes.
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
    auto came = begin(std::move(method), std::move(target), std::move(body), headers);
    if (came.wait_for(guard) != std::future_status::ready) throw std::runtime_error{"no answer came"};
    return came.get();
  }
  http::response get(std::string target) { return ask("GET", std::move(target)); }

  static json::value read(http::response const& from) {
    auto parsed = json::parse(from.body);
    if (!parsed) throw std::runtime_error{"not JSON: " + from.body};
    return *parsed;
  }
  static std::string text(json::value const& from, std::string_view key) { return from.find(key).value().as_string(); }
  static json::value problem_in(http::response const& from) { return read(from).find("error").value(); }

  // Starts one and gives its id.
  std::string start(std::string const& key = "", std::string const& body = R"({"amount": 990})") {
    auto const made = ask("POST", "/v1/sagas/two?wait=20s", body, {{"Idempotency-Key", key}});
    EXPECT_EQ(made.status, 201) << made.body;
    return text(read(made), "id");
  }

  // From here on `ship` does not answer until the test ends.
  void hold_ship() {
    std::lock_guard const lock{held_guard_};
    holding_ = true;
  }

  std::function<answer()> ship = [] { return done(); };
  std::function<answer()> refund = [] { return done(); };
  std::unique_ptr<coordinator> sagas;
  std::unique_ptr<service> served;

 private:
  void bind() {
    sagas->handle("shop", "charge", [](atone::call const&) { return done(R"({"receipt": 9007199254740993})"); });
    sagas->handle("shop", "refund", [this](atone::call const&) { return refund(); });
    sagas->handle("shop", "unship", [](atone::call const&) { return done(); });
    sagas->handle("shop", "ship", [this](atone::call const&) {
      std::future<void> gate;
      {
        std::lock_guard const lock{held_guard_};
        if (holding_) gate = held_.emplace_back().get_future();
      }
      if (gate.valid()) gate.wait();
      return ship();
    });
  }

  std::mutex held_guard_;
  bool holding_ = false;
  std::vector<std::promise<void>> held_;
};

}  // namespace atone::api
