// Who of the installation ends by itself (a fenced coordinator does): counted, and started again as whoever runs it would.
// Thread rules: one thread, that of main().
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <atone/result.hpp>

#include "drill/installation.hpp"

namespace atone::drill {

// A moment is handed in, so that tests need no time.
class watcher {
 public:
  using moment = std::chrono::steady_clock::time_point;
  static constexpr std::uint32_t restarts_max = 20;          // of one process, one after another
  static constexpr std::chrono::milliseconds pause{500};     // before each of them but the first
  static constexpr std::chrono::seconds in_order_after{10};  // one that has run that long is no longer ending again and again

  explicit watcher(installation& of) : installation_(of), seen_(of.processes().size()) {}

  // At everyone but `down`, which is down on purpose. Errors: one ends again and again, or can't be started.
  result<void> look(moment now, managed_process const* down);
  // How often each has ended by itself; who never has is not in it.
  std::map<std::string, std::uint64_t> const& ended() const noexcept { return ended_; }

 private:
  struct state {
    bool up = true;
    std::uint32_t in_a_row = 0;
    moment since{};             // it runs
    std::optional<moment> due;  // when it is started again
  };
  result<void> look_at(managed_process& which, state& of, moment now);
  result<void> note_end(managed_process const& which, state& of, moment now);

  installation& installation_;
  std::vector<state> seen_;  // as the installation lists them
  std::map<std::string, std::uint64_t> ended_;
};

}  // namespace atone::drill
