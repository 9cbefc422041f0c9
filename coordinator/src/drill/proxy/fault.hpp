// What a fault proxy does to the connections that pass through it.
// Thread rules: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include <atone/time.hpp>

namespace atone::drill {

enum class fault_kind : std::uint8_t {
  none,          // everything passes as it comes
  delay,         // what comes is passed on after `of`, give or take `jitter`
  stall,         // connections are accepted, nothing passes, nothing is closed; healed, everything goes on
  half_open,     // the client believes it is connected; the target is gone without a word, also after the fault has ended
  reset,         // open connections and new ones are reset at once
  refuse,        // nobody listens on the port any more; open connections are closed
  cut,           // a connection is closed once it has passed `bytes` more
  duplicate,     // each HTTP request reaches the target twice, the second one on a connection of its own whose answer is dropped
  drip,          // `bytes` at a time, `of` apart
  lose_request,  // what the client sends is dropped, and the connection closed
  lose_answer,   // what the client sends arrives; the answer is dropped, and the connection closed
};
inline constexpr std::size_t fault_kinds = 11;
// "half_open"
std::string_view name(fault_kind kind) noexcept;

// Which bytes a fault means: from the client to the target, from the target to the client, or both.
enum class way : std::uint8_t { there, back, both };
inline bool covers(way which, way one) noexcept {
  return which == way::both || which == one;
}

struct network_fault {
  fault_kind kind = fault_kind::none;
  duration of{};
  duration jitter{};        // at most `of`
  std::uint64_t bytes = 0;  // cut, drip
  way where = way::back;    // delay, cut, drip
  std::uint32_t after = 0;  // lose_request, lose_answer: so many requests pass before
  std::uint32_t times = 0;  // likewise: the proxy is healed after so many; 0: never

  network_fault() = default;
  explicit network_fault(fault_kind of_kind) : kind(of_kind) {}
  friend bool operator==(network_fault const&, network_fault const&) = default;
};

}  // namespace atone::drill
