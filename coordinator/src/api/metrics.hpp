// What the daemon counts, in Prometheus' text form. Thread rules: every member from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <atone/coordinator.hpp>

namespace atone::api {

class metrics {
 public:
  explicit metrics(std::string const& version);
  ~metrics();
  metrics(metrics const&) = delete;
  metrics& operator=(metrics const&) = delete;

  // One answered request; `route` is the pattern, so that ids don't make series of their own.
  void answered(std::string_view route, std::string_view method, std::int32_t status, std::chrono::duration<double> took);
  std::string text(engine_figures const& engine) const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace atone::api
