// The coordinator under Asio: every call takes a completion token (use_awaitable, a callback, use_future …). The completion signature
// is void(result<T>); the handler runs on its associated executor.
//
//   auto outcome = co_await atone::async_run(sagas, "checkout", atone::business_key{"order-1"}, R"({"amount": 990})", use_awaitable);
//
// Thread rules: as coordinator.hpp. A handler without an executor of its own runs on the coordinator's loop thread: it must not block.
// The coordinator must live until the handler has run, and stop() must not come before the call. Cancellation of the token is not
// supported: the saga goes on, only the wait could end, and it ends by its timeout.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/system_executor.hpp>

#include <atone/coordinator.hpp>

namespace atone {
namespace detail {

// Begins `operation(then)` and brings what it is told to the token's handler on the handler's own executor, which is kept alive.
template <class T, class Operation, class Token>
auto initiate(Operation operation, Token&& token) {
  return boost::asio::async_initiate<Token, void(result<T>)>(
      [](auto handler, Operation begin) {
        auto const executor = boost::asio::get_associated_executor(handler, boost::asio::system_executor{});
        auto const work = std::make_shared<decltype(boost::asio::make_work_guard(executor))>(boost::asio::make_work_guard(executor));
        auto const held = std::make_shared<decltype(handler)>(std::move(handler));
        begin([held, executor, work](result<T> outcome) {
          boost::asio::dispatch(executor, [held, work, outcome = std::move(outcome)]() mutable { std::move (*held)(std::move(outcome)); });
        });
      },
      token, std::move(operation));
}

}  // namespace detail

// As coordinator::start: result<started>, once the start is durable.
template <class Token>
auto async_start(coordinator& of, start_request what, Token&& token) {
  auto begin = [&of, what = std::move(what)](std::function<void(result<started>)> then) { of.async_start(what, std::move(then)); };
  return detail::initiate<started>(std::move(begin), std::forward<Token>(token));
}

// As coordinator::wait: result<saga_view> of a saga that ended or is parked, or as it stood when `timeout` passed.
template <class Token>
auto async_wait(coordinator& of, saga_id id, duration timeout, Token&& token) {
  auto begin = [&of, id, timeout](std::function<void(result<saga_view>)> then) { of.async_wait(id, timeout, std::move(then)); };
  return detail::initiate<saga_view>(std::move(begin), std::forward<Token>(token));
}

// As coordinator::get: result<saga_view> as it stands now.
template <class Token>
auto async_get(coordinator& of, saga_id id, Token&& token) {
  auto begin = [&of, id](std::function<void(result<saga_view>)> then) { of.async_get(id, std::move(then)); };
  return detail::initiate<saga_view>(std::move(begin), std::forward<Token>(token));
}

// As coordinator::act: result<saga_view> as it stands after the operator's action, or why that was refused.
template <class Token>
auto async_act(coordinator& of, operator_request what, Token&& token) {
  auto begin = [&of, what = std::move(what)](std::function<void(result<saga_view>)> then) { of.async_act(what, std::move(then)); };
  return detail::initiate<saga_view>(std::move(begin), std::forward<Token>(token));
}

// start, then wait for the end (or parking), at most `timeout` from the moment the start is durable.
template <class Token>
auto async_run(coordinator& of, std::string saga, business_key key, std::string input, Token&& token,
               duration timeout = std::chrono::hours{1}) {
  start_request what;
  what.saga = std::move(saga);
  what.key = std::move(key);
  what.input = std::move(input);
  auto begin = [&of, what = std::move(what), timeout](std::function<void(result<saga_view>)> then) {
    of.async_start(what, [&of, timeout, then = std::move(then)](result<started> begun) {
      if (!begun) return then(begun.error());
      of.async_wait(begun->id, timeout, then);
    });
  };
  return detail::initiate<saga_view>(std::move(begin), std::forward<Token>(token));
}

}  // namespace atone
