// Virtual time: what is to happen, in order. Thread rules: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <atone/time.hpp>

namespace atone::simulation {

// Whose memory a happening needs: it is dropped when that process has crashed since. `nobody`: the network, the store, people.
struct owner {
  static constexpr std::uint32_t nobody = 0xFFFFFFFFU;
  std::uint32_t node = nobody;
  std::uint64_t life = 0;

  owner() = default;
  owner(std::uint32_t who, std::uint64_t in) : node(who), life(in) {}
};

struct happening {
  duration at{};
  std::uint64_t order = 0;  // what was asked for first comes first
  owner of;
  std::function<void()> what;

  happening() = default;
};

class agenda {
 public:
  duration now() const noexcept { return now_; }
  bool empty() const noexcept { return heap_.empty(); }
  duration next_at() const noexcept { return heap_.front().at; }
  std::uint64_t taken() const noexcept { return taken_; }

  void after(duration wait, owner of, std::function<void()> what) {
    happening made;
    made.at = now_ + std::max(wait, duration{0});
    made.order = ++order_;
    made.of = of;
    made.what = std::move(what);
    heap_.push_back(std::move(made));
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  happening take() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    auto first = std::move(heap_.back());
    heap_.pop_back();
    now_ = first.at;
    ++taken_;
    return first;
  }

 private:
  static bool later(happening const& left, happening const& right) {
    return left.at != right.at ? left.at > right.at : left.order > right.order;
  }

  duration now_{};
  std::uint64_t order_ = 0;
  std::uint64_t taken_ = 0;
  std::vector<happening> heap_;
};

}  // namespace atone::simulation
