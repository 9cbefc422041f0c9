// What the parts of the coordinator's implementation (impl*.cpp) share: reading on the reader's thread, and waits for an end.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "impl.hpp"

namespace atone {

inline constexpr duration read_pause_max = std::chrono::seconds{1};

// A saga with its history, as the store has it; nothing when it is not there (any more).
result<std::optional<open_saga>> read_saga(journal_reader& in, saga_id saga);

struct coordinator::impl::wait_state {
  static constexpr duration first_look = std::chrono::milliseconds{20};  // into the store, for the end of a saga that another drives

  saga_id saga;
  timestamp until;
  std::function<void(result<saga_view>)> then;
  boost::asio::steady_timer timer;  // of the whole wait, then of the next look into the store
  duration pause = first_look;
  std::uint64_t number = 0;  // with the engine

  wait_state(boost::asio::io_context& of, saga_id which, timestamp end, std::function<void(result<saga_view>)> told)
      : saga(which), until(end), then(std::move(told)), timer(of) {}
  void finish(result<saga_view> with) {
    timer.cancel();
    if (auto const told = std::exchange(then, nullptr)) told(std::move(with));
  }
};

template <class Value>
void coordinator::impl::read_once(std::function<result<Value>(journal_reader&)> work, std::function<void(result<Value>)> then) {
  read_by<Value>(reader, std::move(work), std::move(then));
}

template <class Value>
void coordinator::impl::read_by(library::reader_thread& by, std::function<result<Value>(journal_reader&)> work,
                                std::function<void(result<Value>)> then) {
  auto const found = std::make_shared<result<Value>>(library::stopped_error());
  auto const ask = [found, work = std::move(work)](journal_reader& in) -> result<void> {
    *found = work(in);
    if (!*found) return found->error();
    return {};
  };
  by.post(ask, [this, found, then = std::move(then)](result<void> outcome) {
    on_loop([found, then, outcome] { then(outcome ? std::move(*found) : result<Value>{outcome.error()}); });
  });
}

// For the engine, beside those who ask: neither waits for the other. Asked again until the store has answered: an outage is no answer.
template <class Value>
void coordinator::impl::read_through(std::function<result<Value>(journal_reader&)> work, std::function<void(result<Value>)> then,
                                     duration pause) {
  read_by<Value>(engines_reader, work, [this, work, then, pause](result<Value> found) {
    if (found || !found.error().retryable() || stopped.load()) return then(std::move(found));
    auto const timer = std::make_shared<boost::asio::steady_timer>(loop, pause);
    timer->async_wait([this, timer, work, then, pause](boost::system::error_code) {
      read_through<Value>(work, then, std::min(pause * 2, read_pause_max));
    });
  });
}

}  // namespace atone
