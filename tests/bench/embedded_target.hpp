// The coordinator as a library in this process.
#pragma once

#include <time.h>

#include <memory>
#include <mutex>
#include <string>

#include <atone/coordinator.hpp>

#include "target.hpp"
#include "workload.hpp"

namespace bench {

struct embedded_options {
  atone::options coordinator;
  callee to = callee::http;
  bool refused = false;
  bool keys = false;  // name each saga by a business key

  embedded_options() = default;
};

class embedded_target final : public target {
 public:
  explicit embedded_target(embedded_options with);

  void run_saga(work_item what, done then) override;
  std::string first_failure() const override;
  atone::coordinator& sagas() noexcept { return *sagas_; }
  atone::engine_figures figures() const { return sagas_->figures(); }
  atone::retention_figures deletions() const { return sagas_->deletions(); }
  // CPU clock of the engine's loop thread.
  clockid_t loop_clock() const noexcept { return loop_clock_; }
  void stop();

 private:
  outcome judge(atone::result<atone::saga_view> const& of);
  void note(std::string why);
  void find_loop();

  embedded_options settings_;
  atone::saga_status wanted_;
  std::unique_ptr<atone::coordinator> sagas_;
  clockid_t loop_clock_{};
  mutable std::mutex lock_;
  std::string first_failure_;
};

}  // namespace bench
