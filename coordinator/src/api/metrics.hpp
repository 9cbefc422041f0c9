// What the daemon counts, in Prometheus' text form. Thread rules: every member from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <atone/coordinator.hpp>
#include <atone/feature_step.hpp>

namespace atone::api {

// What came of a request that was not for this node's sagas.
enum class forward_outcome : unsigned char {
  answered,     // by the node that drives the saga, whatever it said
  here,         // the saga had come to this node meanwhile
  lost,         // no answer came; it may have taken effect
  no_driver,    // nobody drove the saga as long as it was looked for
  unreachable,  // its driver took no connection as long as that was tried
  no_address,   // its driver has no address, or one that can't be used
  second_hop,   // another node had passed it on: refused here
  too_many,     // refused: too many were on their way
  stopped,      // this node was stopping
};
std::string_view name(forward_outcome of) noexcept;

class metrics {
 public:
  explicit metrics(std::string const& version);
  ~metrics();
  metrics(metrics const&) = delete;
  metrics& operator=(metrics const&) = delete;

  // One answered request; `route` is the pattern, so that ids don't make series of their own.
  void answered(std::string_view route, std::string_view method, std::int32_t status, std::chrono::duration<double> took);
  void forwarded(forward_outcome of);
  // `nodes`: as coordinator::nodes() says; empty where it could not.
  std::string text(engine_figures const& engine, std::vector<node_view> const& nodes, retention_figures const& deleted,
                   feature_services const& features) const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace atone::api
