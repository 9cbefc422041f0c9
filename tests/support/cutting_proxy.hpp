// The fault proxy in the words of tests that lose single messages: an answer after its request was carried out, a request before it
// arrived, or everything, without a word (a black hole). Thread rules: any thread.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "drill/proxy/fault_proxy.hpp"

namespace atone::test {

class cutting_proxy {
 public:
  explicit cutting_proxy(std::uint16_t target) {
    drill::proxy_options with;
    with.target_port = target;
    auto started = drill::fault_proxy::start(with);
    if (!started) std::abort();
    proxy_ = std::move(*started);
  }

  std::uint16_t port() const noexcept { return proxy_->port(); }
  int cuts() const { return static_cast<int>(proxy_->figures().cuts); }

  // The next request reaches the server; its answer is dropped and the connection cut.
  void lose_next_answer() { lose_answer_after(0); }
  // The same, after `requests` more have passed.
  void lose_answer_after(std::uint32_t requests) { lose_one(drill::fault_kind::lose_answer, requests); }
  // The next request is dropped and the connection cut.
  void lose_next_request() { lose_one(drill::fault_kind::lose_request, 0); }
  // From now on nothing passes, nothing is closed; `false` ends it.
  void swallow_everything(bool on) { proxy_->set(drill::network_fault{on ? drill::fault_kind::stall : drill::fault_kind::none}); }

 private:
  void lose_one(drill::fault_kind what, std::uint32_t requests) {
    drill::network_fault once{what};
    once.after = requests;
    once.times = 1;
    proxy_->set(once);
  }

  std::unique_ptr<drill::fault_proxy> proxy_;
};

}  // namespace atone::test
