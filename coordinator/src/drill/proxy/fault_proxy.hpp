// A TCP proxy that does to connections what a network can do: it listens on a port, passes everything on to a target, and takes a fault
// at run time. Used by `atone drill` in front of services, and by the tests in front of PostgreSQL.
//
// Thread rules: works in a thread of its own; every method may be called from any thread and has taken effect when it returns.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <atone/result.hpp>

#include "drill/proxy/fault.hpp"

namespace atone::drill {

struct proxy_options {
  std::string address = "127.0.0.1";  // where it listens: an IP address
  std::uint16_t port = 0;             // 0: any free one
  std::string target_address = "127.0.0.1";
  std::uint16_t target_port = 0;
  std::uint64_t seed = 1;  // of the jitter

  proxy_options() = default;
};

// What has happened since it was started.
struct proxy_figures {
  std::uint64_t accepted = 0;  // connections
  std::uint64_t open = 0;      // of these now
  std::uint64_t cuts = 0;      // connections that cut, lose_request or lose_answer has ended
  std::uint64_t resets = 0;    // connections that were reset
  std::uint64_t doubled = 0;   // requests that were sent twice
  std::uint64_t touched = 0;   // connections that a fault has really done something to: once a connection and fault
  std::uint64_t carried = 0;   // bytes passed on, both ways

  proxy_figures() = default;
};

class fault_proxy {
 public:
  static constexpr std::size_t connections_max = 4096;  // a further one is reset
  static constexpr std::size_t buffer_size = 65536;     // bytes on their way, a connection and way
  static constexpr std::size_t doubles_max = 64;        // second sendings under way; beyond them requests pass once

  // Errors: invalid_argument (no IP address), unavailable (the port is taken).
  static result<std::unique_ptr<fault_proxy>> start(proxy_options with);
  ~fault_proxy();  // closes everything
  fault_proxy(fault_proxy const&) = delete;
  fault_proxy& operator=(fault_proxy const&) = delete;

  std::uint16_t port() const noexcept;
  // Takes the place of the fault before it. What the old one held back goes on under the new one.
  void set(network_fault fault);
  void heal() { set(network_fault{}); }
  proxy_figures figures() const;

 private:
  struct impl;
  explicit fault_proxy(std::unique_ptr<impl> of);
  std::unique_ptr<impl> impl_;
};

}  // namespace atone::drill
