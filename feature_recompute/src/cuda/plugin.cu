// The plug-in for CUDA devices, built by nvcc and loaded by the core when it is asked to.
#include "cuda/machine.cuh"
#include "cuda/plugin.cuh"

extern "C" __attribute__((visibility("default"))) atone::features::device_interface const* atone_features_device_v1() {
  static auto const made = atone::features::cuda::plugin<atone::features::cuda::cuda_machine>::made();
  return &made;
}
