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
// So many copies to the device go well, then the host has no memory for the next.
extern "C" void atone_emulator_no_memory_after(long copies) {
  cuda_emulator::emulated_machine::copies_left = copies;
}
// Whether allocations fail because the device is broken.
extern "C" void atone_emulator_poison(bool is_poisoned) {
  cuda_emulator::emulated_machine::is_poisoned = is_poisoned;
}
