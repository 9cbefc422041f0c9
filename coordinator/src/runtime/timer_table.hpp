// The engine's timers in order of their due time; each belongs to a saga and is named by (kind, step, operation).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <atone/ids.hpp>
#include <atone/machine.hpp>

namespace atone::runtime {

struct armed_timer {
  saga_id saga;
  timer_kind kind = timer_kind::none;
  step_path step;
  operation op = operation::none;

  armed_timer() = default;
};

class timer_table {
 public:
  using queue = std::multimap<timestamp, armed_timer>;
  // A saga's own timers, so that they go with it.
  using handles = std::vector<queue::iterator>;

  void arm(handles& own, timestamp due, armed_timer what) { own.push_back(queue_.emplace(due, std::move(what))); }

  void cancel(handles& own, timer_kind kind, step_path const& step, operation op) {
    std::erase_if(own, [&](queue::iterator at) {
      if (at->second.kind != kind || at->second.step != step || at->second.op != op) return false;
      queue_.erase(at);
      return true;
    });
  }

  void cancel_all(handles& own) {
    for (auto at : own) queue_.erase(at);
    own.clear();
  }

  std::optional<timestamp> next_due() const {
    if (queue_.empty()) return std::nullopt;
    return queue_.begin()->first;
  }

  // The first timer that is due; it stays armed until its owner takes it off with cancel().
  std::optional<armed_timer> due(timestamp now) const {
    if (queue_.empty() || queue_.begin()->first > now) return std::nullopt;
    return queue_.begin()->second;
  }

  std::size_t size() const noexcept { return queue_.size(); }

 private:
  queue queue_;
};

}  // namespace atone::runtime
