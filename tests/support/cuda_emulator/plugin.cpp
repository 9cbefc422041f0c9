// The plug-in with the kernels of the real one, on the emulated machine.
#include "emulator.hpp"
// The language comes first.
#include "cuda/plugin.cuh"
#include "machine.hpp"

extern "C" atone::features::device_interface const* atone_features_device_v1() {
  static auto const made = atone::features::cuda::plugin<cuda_emulator::emulated_machine>::made();
  return &made;
}

// For tests: so many launches go well, then the machine is broken for who uses it.
extern "C" void atone_emulator_fail_after(long launches) {
  cuda_emulator::emulated_machine::launches_left = launches;
}
