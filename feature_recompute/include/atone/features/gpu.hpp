// The same features computed on a GPU, with the same bits: a plug-in that is loaded when it is asked for does it, so that nothing here
// needs CUDA. A machine without a plug-in, a driver or a device is a normal machine: it is told why, and the CPU's engine does the work.
//
// Thread rules: one object belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <atone/features/engine.hpp>

namespace atone::features {

// The plug-in's file name.
inline constexpr char gpu_plugin_name[] = "libatone_features_cuda.so";

// One GPU.
struct gpu_device {
  int number = 0;
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  int processors = 0;
  std::uint64_t memory = 0;  // bytes
  std::uint64_t memory_free = 0;

  gpu_device() = default;
};

// What there is on this machine.
struct gpu_report {
  std::string built;      // what the plug-in was built by and for
  int driver = 0;         // version × 1000; 0: there is none
  int runtime = 0;        // of the plug-in
  std::string no_device;  // why there is none; empty: there is
  std::vector<gpu_device> devices;

  gpu_report() = default;
};

// Which device, and how it is used. Results never depend on it.
struct gpu_options {
  std::string plugin;  // path of the plug-in
  int device = 0;
  std::uint32_t thread_rows = 32;  // events of an entity that one thread computes; up to warp_rows a warp does, beyond a block
  std::uint32_t warp_rows = 4096;
  std::uint32_t block_threads = 256;                     // a multiple of 32, at most 256
  std::uint64_t scratch_bytes = std::uint64_t{1} << 30;  // of each of the two batches under way
  std::uint64_t result_bytes = std::uint64_t{1} << 26;   // of one batch

  gpu_options() = default;
};

// Errors: unavailable (no such plug-in, or it can't be loaded), unsupported (it was built from another version).
result<gpu_report> look_for_gpus(std::string const& plugin);

// A compiled set on one device.
class gpu_engine {
 public:
  // Errors: unavailable (no plug-in, no device), unsupported (another version's plug-in; a feature that it does not compute, by name; a
  // device that it is not built for), exhausted (no memory on the host), invalid_argument (options out of bounds).
  static result<gpu_engine> open(feature_set_ptr set, gpu_options const& options);
  ~gpu_engine();
  gpu_engine(gpu_engine&&) noexcept;
  gpu_engine& operator=(gpu_engine&&) noexcept;

  // Copies to the device what the set reads of the store; it stays there until the next store. The store must live as long.
  // Errors: exhausted (too large for the device), unavailable (the device can't be used any more: end the process).
  result<void> keep(event_store const& store);

  // As feature_engine's, from the store that is kept; the same errors, and those of `keep`.
  result<feature_table> as_of(timestamp at, timestamp known_at);
  result<feature_table> at(std::span<feature_moment const> moments);
  result<feature_table> per_event();

 private:
  struct impl;
  explicit gpu_engine(std::unique_ptr<impl> of);
  std::unique_ptr<impl> impl_;
};

// Computes a set of every kind of feature over drawn events on the device and on the CPU, and compares the bits: what a worker does before
// it takes work, and `atone doctor --gpu`. Errors: those of gpu_engine; corrupt (other bits, with feature and window).
result<void> compare_gpu_with_cpu(gpu_options const& options);

}  // namespace atone::features
