// The HTTP API of the daemon: a function from request to answer over a coordinator, without sockets of its own.
// What belongs to the node that drives a saga is passed on to it.
// Thread rules: handle() from any thread; answers come from any thread, once each. stop() before the coordinator stops.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <atone/coordinator.hpp>
#include <atone/feature_step.hpp>

#include "api/access.hpp"
#include "api/call.hpp"
#include "api/forwarder.hpp"

namespace atone::api {

struct service_options {
  std::vector<token> tokens;                     // none: everybody who reaches the port may ask
  bool local_only = true;                        // without tokens: only requests that name this host by address or as localhost
  duration wait_max = std::chrono::seconds{60};  // longest wait within one request
  std::uint32_t workers = 2;                     // threads that read the store
  std::size_t queue_max = 256;                   // requests waiting for one; above it they are answered 503
  forward_options forward;                       // of what another node must do
  feature_services features;                     // that are served here
  std::string version;                           // shown by /v1/stats and /metrics

  service_options() = default;
};

class service {
 public:
  service(coordinator& sagas, service_options options);
  ~service();
  service(service const&) = delete;
  service& operator=(service const&) = delete;

  void handle(http::request what, reply send);
  // Answers who waits for a saga's end or for its driver with 503, so that a stop has nobody to wait for; later waits are answered so at
  // once.
  void release_waiting();
  // Joins the workers; what waited for one is dropped unanswered. What is on its way to other nodes is answered 503.
  void stop();

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace atone::api
