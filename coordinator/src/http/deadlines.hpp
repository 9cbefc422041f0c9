// Many deadlines behind one timer. Thread rules: the thread of the io_context.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>

#include <atone/time.hpp>

namespace atone::http {

class deadlines {
 public:
  using clock = std::chrono::steady_clock;
  using id = std::uint64_t;
  // When, and whose; what remove() takes.
  using entry = std::pair<clock::time_point, id>;

  // `expired` is called from the io_context, once for each entry that was not removed in time.
  deadlines(boost::asio::io_context& io, std::function<void(id)> expired);
  ~deadlines();
  deadlines(deadlines const&) = delete;
  deadlines& operator=(deadlines const&) = delete;

  entry add(duration after, id whose);
  void remove(entry const& which);
  // Forgets all, so that no timer holds the io_context up.
  void stop();
  static clock::time_point now() noexcept { return clock::now(); }

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace atone::http
