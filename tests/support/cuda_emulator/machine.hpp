// The machine behind the plug-in's sessions, emulated: memory of its own, launches on fibers. Devices from 10 on are there for who asks for
// them by number, and break: see `broken`.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include <deque>
#include <functional>
#include <new>
#include <utility>

#include "cuda/refusal.cuh"
#include "device/interface.hpp"

#include "emulator.hpp"

namespace cuda_emulator {

// How a device breaks, in which session of its process: the first is the canary's, the second does the work, later ones are heartbeats'.
enum broken : std::int32_t {
  fails_at_work = 10,
  hangs_at_work = 11,
  wrong_from_the_beginning = 12,
  kills_its_process_at_work = 13,
  wrong_at_a_heartbeat = 14,
  wrong_at_work = 15,
  too_old = 16,
  no_memory_at_a_heartbeat = 17,
};

class emulated_machine {
 public:
  static constexpr char built[] = "emulation on the host";
  static inline std::int32_t entered = -1;  // the device that the thread has chosen
  static inline long launches_left = -1;    // launches that still go well; negative: all
  static inline long copies_left = -1;      // copies to the device before the host has no memory for one; negative: all
  static inline bool is_poisoned = false;   // every allocation fails with an error that is not "no memory"

  static atone::features::device_status look(atone::features::device_driver& found, atone::features::device_words&) {
    found.devices = 2;
    found.driver = found.runtime = 1000;
    return atone::features::device_status::done;
  }
  static atone::features::device_status describe(std::int32_t device, atone::features::device_facts& found,
                                                 atone::features::device_words&) {
    std::snprintf(found.name, sizeof found.name, "emulated %d", static_cast<int>(device));
    found.processors = 1;
    found.memory = found.memory_free = memory_bytes;
    return atone::features::device_status::done;
  }
  atone::features::device_status open(std::int32_t device, atone::features::device_words& why) {
    if (device == too_old) return atone::features::cuda::fits(7, 5, why);
    static int sessions = 0;
    ++sessions;
    device_ = device;
    enter();
    bool const is_work = sessions == 2;
    is_full_ = sessions > 2 && device == no_memory_at_a_heartbeat;
    fails_ = is_work && device == fails_at_work;
    hangs_ = is_work && device == hangs_at_work;
    kills_ = is_work && device == kills_its_process_at_work;
    is_wrong_ =
        device == wrong_from_the_beginning || (sessions > 2 && device == wrong_at_a_heartbeat) || (is_work && device == wrong_at_work);
    return atone::features::device_status::done;
  }

  void enter() { entered = device_; }

  std::uint32_t blocks_most() const { return 2; }  // few: each takes several rows of results
  void* allocate(std::size_t bytes) {
    if (is_poisoned) failed_ = true;
    if (failed_ || is_full_ || bytes > memory_bytes) return nullptr;
    auto* const made = std::malloc(bytes);
    if (made != nullptr) std::memset(made, 0xA5, bytes);
    return made;
  }
  void release(void* at) { std::free(at); }
  void* allocate_pinned(std::size_t bytes) { return allocate(bytes); }
  void release_pinned(void* at) { release(at); }

  void copy_in(unsigned stream, void* to, void const* from, std::size_t bytes) {
    if (copies_left == 0) throw std::bad_alloc{};
    if (copies_left > 0) --copies_left;
    later(stream, [=] {
      if (bytes > 0) std::memcpy(to, from, bytes);
    });
  }
  void copy_out(unsigned stream, void* to, void const* from, std::size_t bytes) {
    later(stream, [=, this] {
      if (bytes == 0) return;
      std::memcpy(to, from, bytes);
      if (is_wrong_) *static_cast<unsigned char*>(to) ^= 1;
    });
  }
  template <class... Parameters, class... Arguments>
  void launch(unsigned stream, void (*kernel)(Parameters...), std::uint32_t blocks, std::uint32_t threads, Arguments... with) {
    if (entered != device_) failed_ = true;  // as on a device: its streams are of no use elsewhere
    later(stream, [=, this] {
      if (kills_) std::abort();
      while (hangs_) pause();
      if (launches_left == 0 || fails_) failed_ = true;
      if (failed_) return;
      if (launches_left > 0) --launches_left;
      run(blocks, threads, [&] { kernel(with...); });
    });
  }
  bool settle(unsigned stream) {
    while (!waiting_[stream].empty()) {
      auto const work = std::move(waiting_[stream].front());
      waiting_[stream].pop_front();
      work();
    }
    return !failed_;
  }
  bool is_good() const { return !failed_; }
  char const* trouble() const { return is_poisoned ? "an allocation failed, as was asked for" : "a launch failed, as was asked for"; }

 private:
  // As late as can be: memory that goes, or is read, before the stream has settled is seen by the sanitizers and the comparison.
  void later(unsigned stream, std::function<void()> work) { waiting_[stream].push_back(std::move(work)); }

  std::deque<std::function<void()>> waiting_[2];
  static constexpr std::size_t memory_bytes = std::size_t{1} << 30;
  std::int32_t device_ = 0;
  bool failed_ = false;
  bool is_full_ = false;
  bool fails_ = false;
  bool hangs_ = false;
  bool kills_ = false;
  bool is_wrong_ = false;
};

}  // namespace cuda_emulator
