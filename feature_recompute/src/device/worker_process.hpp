// A GPU in a process of its own, seen from the core: started, asked, killed. What a device can do to its process it does to the worker.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include <atone/features/recompute.hpp>

#include "device/arena.hpp"
#include "device/channel.hpp"

namespace atone::features {

class worker_process {
 public:
  // Starts it and waits for its canary. Errors: unavailable, with what it said or how it ended.
  static result<std::unique_ptr<worker_process>> start(gpu_worker_options const& options);
  ~worker_process();
  worker_process(worker_process const&) = delete;
  worker_process& operator=(worker_process const&) = delete;

  // Errors: exhausted (refused: the worker is as good as before), unavailable (it is gone: start another).
  result<void> keep(flat_store const& store);
  // A job in two halves, so that others can work meanwhile. What it computed lies in memory of this object until it is asked again.
  result<void> begin(device_job const& job);
  result<std::vector<flat_result>> finish();
  // The canary once more.
  result<void> heartbeat();
  pid_t process() const noexcept { return process_; }

 private:
  explicit worker_process(gpu_worker_options options) : options_(std::move(options)) {}
  result<void> spawn();
  result<void> ask(worker_message message, bool with_room, duration within);
  result<void> tell(worker_message message, bool with_room);
  result<void> hear(duration within);
  bool make_room(std::size_t bytes);
  // Ends it, whatever it does, and says how it had ended.
  std::string end();

  gpu_worker_options options_;
  descriptor socket_;
  shared_memory room_;
  std::vector<flat_result> results_;  // in the room: not read back from it, since the worker writes there
  pid_t process_ = -1;
};

}  // namespace atone::features
