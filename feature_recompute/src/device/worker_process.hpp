// A GPU in a process of its own, seen from the core: started, asked, killed. What a device can do to its process it does to the worker.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <atone/features/recompute.hpp>

#include "device/arena.hpp"
#include "device/channel.hpp"

namespace atone::features {

// Whether a child has ended by then, and its status.
std::optional<int> reap(pid_t process, duration within) noexcept;

// A worker that was killed and is still there: one in the midst of a driver's call goes when the driver lets it go, if ever. Until then its
// device is its.
class parked_process {
 public:
  parked_process() = default;
  ~parked_process() { is_gone(); }
  parked_process(parked_process const&) = delete;
  parked_process& operator=(parked_process const&) = delete;
  void put(pid_t process) noexcept { process_ = process; }
  bool is_gone() noexcept;
  pid_t process() const noexcept { return process_; }

 private:
  pid_t process_ = -1;
};

class worker_process {
 public:
  // Starts it and waits for its canary. `parked` is where its process goes if it can't be killed; with one there nothing is started.
  // Errors: unavailable, with what it said or how it ended; exhausted (no memory for it on the device now); unsupported (a device that the
  // plug-in is not built for, or another version's plug-in: it will be the same next time).
  static result<std::unique_ptr<worker_process>> start(gpu_worker_options const& options,
                                                       std::shared_ptr<parked_process> parked = std::make_shared<parked_process>());
  ~worker_process();
  worker_process(worker_process const&) = delete;
  worker_process& operator=(worker_process const&) = delete;

  // Errors: exhausted (refused: the worker is as good as before), unavailable (it is gone: start another).
  result<void> keep(flat_store const& store);
  // A job in two halves, so that others can work meanwhile. What it computed lies in memory of this object until it is asked again. One
  // that is asked again before it was heard is ended.
  result<void> begin(device_job const& job);
  result<std::vector<flat_result>> finish();
  // The canary once more.
  result<void> heartbeat();
  pid_t process() const noexcept { return process_; }
  // Whether a question is open.
  bool is_asked() const noexcept { return is_asked_; }

 private:
  worker_process(gpu_worker_options options, std::shared_ptr<parked_process> parked)
      : options_(std::move(options)), parked_(std::move(parked)) {}
  result<void> spawn();
  result<void> ask(worker_message message, bool with_room, duration within);
  result<void> be_idle();
  result<void> tell(worker_message message, bool with_room);
  result<void> hear(duration within);
  bool make_room(std::size_t bytes);
  // Ends it, whatever it does, in bounded time. Its status, if it was seen to end.
  std::optional<int> kill_it() noexcept;
  // Likewise, and says how it had ended.
  std::string end();

  gpu_worker_options options_;
  std::shared_ptr<parked_process> parked_;
  descriptor socket_;
  shared_memory room_;
  std::vector<flat_result> results_;  // in the room: not read back from it, since the worker writes there
  pid_t process_ = -1;
  std::uint64_t number_ = 0;  // of the last question
  bool is_asked_ = false;
};

}  // namespace atone::features
