// A participant over HTTP: routes, the barrier around each change, faults on purpose, and what the audit reads.
//
// Thread rules: start and stop from one thread; everything inside runs on the service's own threads.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <atone/participant.hpp>
#include <atone/result.hpp>

#include "options.hpp"
#include "route.hpp"

namespace kit {

// What makes one service different from the next.
struct service_definition {
  std::string name;
  std::vector<extra_flag> extras;
  // Tables, made at start when they are missing; `serial` is the dialect's type of a self-numbering key.
  std::function<std::string(std::string_view serial)> schema;
  std::vector<std::string> evidence;  // tables with one row a change: columns saga, step, op (see effects.hpp)
  std::function<atone::result<std::vector<route>>(service_options const&)> routes;  // errors: a flag that is wrong

  service_definition() = default;
};

// What GET /atone/stats answers.
struct service_figures {
  std::uint64_t requests = 0;
  std::uint64_t done = 0;
  std::uint64_t refused = 0;       // by the business, the first time
  std::uint64_t duplicates = 0;    // swallowed by the barrier: the stored answer was sent
  std::uint64_t empty = 0;         // compensations that had nothing to undo
  std::uint64_t late_actions = 0;  // refused by the barrier: compensated before
  std::uint64_t errors = 0;
  std::uint64_t overloaded = 0;
  std::array<std::uint64_t, fault_kinds> faults{};

  service_figures() = default;
};

class service {
 public:
  static constexpr std::uint32_t workers = 8;
  static constexpr std::uint32_t queue_max = 1024;  // requests waiting for a worker; above it 429

  // Opens the database, makes its tables and the barrier, listens. Errors say what could not be had.
  static atone::result<std::unique_ptr<service>> start(service_definition of, service_options with);
  ~service();  // stops
  service(service const&) = delete;
  service& operator=(service const&) = delete;

  std::uint16_t port() const noexcept;
  service_figures figures() const;
  // Requests under way are answered, then everything is closed and joined. Idempotent.
  void stop();

 private:
  struct impl;
  explicit service(std::unique_ptr<impl> of);
  std::unique_ptr<impl> impl_;
};

// The main function of a service: reads the flags, starts, prints "listening on 127.0.0.1:PORT", stops on SIGTERM or SIGINT.
int run_service(service_definition const& of, std::vector<std::string> const& arguments);

}  // namespace kit
