// Where features are computed: by GPUs, each in a worker process of its own, and by the CPU where there is none, where a job is too small,
// and where a GPU fails. Since all give the same bits, it makes no difference to results who did what.
//
// A worker proves itself with a canary before it gets work, and again with each heartbeat. A device that breaks takes its worker with it,
// never this process; a worker that does not answer in time is killed. What it was computing is computed by another GPU, else by the CPU,
// and an alert says so. It is started again after a pause that doubles, until it has worked well for as long. A device that the plug-in is
// not built for is never tried again; a process that can't be killed is waited for, without blocking, before its device gets another. Only
// when that fails too (an error comes back) is it for the caller to serve the last version.
//
// Thread rules: one object belongs to one thread at a time. No clock, no threads of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <atone/features/gpu.hpp>
#include <atone/time.hpp>

namespace atone::features {

// The worker's program, beside the plug-in.
inline constexpr char gpu_worker_name[] = "atone_gpu_worker";

// One GPU and the process that uses it.
struct gpu_worker_options {
  std::string program;  // path of the worker
  gpu_options gpu;
  duration start_within = std::chrono::seconds{120};  // driver, canary and all
  duration answer_within = std::chrono::seconds{60};  // one job, one heartbeat, one store

  gpu_worker_options() = default;
};

struct recompute_options {
  std::vector<gpu_worker_options> gpus;             // rows are divided among those at work by a hash of their entity
  std::size_t gpu_rows_least = 5000;                // jobs of fewer rows are the CPU's: a copy to a device and back takes longer
  std::size_t checked_every = 1000;                 // of a GPU's rows one in so many is computed by the CPU too and compared; 0: none
  duration retry_after = std::chrono::seconds{60};  // a worker that failed is left alone for so long, each time twice as long
  duration retry_after_most = std::chrono::hours{1};
  std::function<timestamp()> now;                 // what time it is; needed where there are GPUs
  std::function<void(std::string const&)> alert;  // what a person should know, when it changes; may be empty; what it throws is lost
  parallel how = one_by_one;                      // the CPU's work

  recompute_options() = default;
};

// What happened so far.
struct recompute_counts {
  std::uint64_t rows_by_gpu = 0;
  std::uint64_t rows_by_cpu = 0;
  std::uint64_t worker_starts = 0;
  std::uint64_t worker_failures = 0;

  recompute_counts() = default;
};

// A compiled set, and everybody who can compute it.
class recomputer {
 public:
  // Workers are started with the first job that is theirs. Errors: invalid_argument (GPUs without a clock).
  static result<recomputer> make(feature_set_ptr set, recompute_options options);
  ~recomputer();
  recomputer(recomputer&&) noexcept;
  recomputer& operator=(recomputer&&) noexcept;

  // What is computed from; it must live as long as it is used. Workers get it with their next job.
  void keep(event_store const& store);

  // As feature_engine's, with the same errors.
  result<feature_table> as_of(timestamp at, timestamp known_at);
  result<feature_table> at(std::span<feature_moment const> moments);
  result<feature_table> per_event();

  // A heartbeat: every worker at work computes the canary anew; those whose time has come are started again. For whoever has a timer.
  void look_after();
  recompute_counts counts() const;
  // How many workers are at work.
  std::size_t workers() const;

 private:
  struct impl;
  explicit recomputer(std::unique_ptr<impl> of);
  std::unique_ptr<impl> impl_;
};

}  // namespace atone::features
