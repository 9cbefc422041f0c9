// The machine behind the plug-in's sessions, emulated: memory of its own, launches on fibers.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device/interface.hpp"
#include "emulator.hpp"

namespace cuda_emulator {

class emulated_machine {
 public:
  static constexpr char built[] = "emulation on the host";
  static inline long launches_left = -1;  // launches that still go well; negative: all

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
  atone::features::device_status open(std::int32_t, atone::features::device_words&) { return atone::features::device_status::done; }

  std::uint32_t blocks_most() const { return 2; }  // few: each takes several rows of results
  void* allocate(std::size_t bytes) {
    if (bytes > memory_bytes) return nullptr;
    auto* const made = std::malloc(bytes);
    if (made != nullptr) std::memset(made, 0xA5, bytes);
    return made;
  }
  void release(void* at) { std::free(at); }
  void copy_in(void* to, void const* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void copy_out(void* to, void const* from, std::size_t bytes) { copy_in(to, from, bytes); }

  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), std::uint32_t blocks, std::uint32_t threads, Arguments const&... with) {
    if (launches_left == 0) failed_ = true;
    if (failed_) return;
    if (launches_left > 0) --launches_left;
    run(blocks, threads, [&] { kernel(with...); });
  }
  bool settle() { return !failed_; }
  char const* trouble() const { return "a launch failed, as was asked for"; }

 private:
  static constexpr std::size_t memory_bytes = std::size_t{1} << 30;
  bool failed_ = false;
};

}  // namespace cuda_emulator
