// Worker processes over the emulated plug-in, for the tests that start them.
#pragma once

#include <atone/features/recompute.hpp>

#include "compare.hpp"

namespace atone::features_test {

// On this device of the emulated machine.
inline features::gpu_worker_options worker_on(int device) {
  features::gpu_worker_options made;
  made.program = ATONE_GPU_WORKER;
  made.gpu.plugin = emulated_plugin();
  made.gpu.device = device;
  made.gpu.block_threads = 64;
  return made;
}

}  // namespace atone::features_test
