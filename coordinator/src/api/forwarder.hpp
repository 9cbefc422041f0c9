// Brings a request to the node that drives its saga: tried here first, and where the saga is another node's, sent there.
//
// One hop: what another node has passed on is answered here or refused. While nobody drives the saga (a take-over or a hand-over is
// under way), or its driver can't be reached, it is looked for again until the patience is over. What has left and was not answered
// may have taken effect: that is said, never tried again.
//
// Thread rules: every member from any thread. Answers come from the forwarder's own thread, or from the coordinator's loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <atone/coordinator.hpp>
#include <atone/http.hpp>

#include "api/call.hpp"
#include "api/metrics.hpp"

namespace atone::api {

struct forward_options {
  std::string node;                                // what this one is called, for the other's record
  http::tls_options tls;                           // whom to trust where the other's address is https, and what to show there
  std::uint32_t in_flight_max = 256;               // requests on their way or waiting for a driver; above it 503
  duration patience = std::chrono::seconds{5};     // how long a driver is looked for
  duration answer_max = std::chrono::seconds{10};  // for the other node's whole answer

  forward_options() = default;
};

class forwarder {
 public:
  // Tells an answer, or why the coordinator could not give one.
  using told = std::function<void(result<http::response>)>;
  // Tries the request on this node's coordinator; called again when the saga has come here meanwhile.
  using attempt_here = std::function<void(told)>;

  forwarder(coordinator& sagas, forward_options with, api::metrics& counts);
  ~forwarder();
  forwarder(forwarder const&) = delete;
  forwarder& operator=(forwarder const&) = delete;

  // Answers `of`, once.
  void bring(call_ptr const& of, saga_id saga, attempt_here here);
  // Nobody waits for a driver any more: 503 at once. Requests that have left are waited for.
  void release();
  // Answers everything that is left, joins. Before the coordinator stops; idempotent.
  void stop();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace atone::api
