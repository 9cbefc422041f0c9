// What of CUDA's language the kernels use, for an ordinary compiler: a launch runs block after block, the threads of a block as fibers of
// the calling thread, which change places where threads wait for each other. So the kernels' own source runs under a debugger and
// sanitizers. Where threads of a block or a warp wait for each other at different places, which is undefined on a device, the process ends
// and says so. Not shown by it: races between barriers within one order of the fibers (two orders are run in turn), and anything about
// speed.
#pragma once

#include <cstdint>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __shared__ static

namespace cuda_emulator {

struct coordinates {
  unsigned x = 0;
};

// Runs `kernel` once for each thread of each block.
void run(unsigned blocks, unsigned threads, std::function<void()> const& kernel);

// Meetings of threads that run().
enum class meeting { block, warp, shuffle, ballot };
void meet(meeting kind);
// What the thread `lane` of the same warp says; 32 and more: what oneself says.
unsigned long long exchange(unsigned long long mine, unsigned lane);
unsigned ballot(bool mine);

}  // namespace cuda_emulator

// The thread that runs.
extern cuda_emulator::coordinates threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() {
  cuda_emulator::meet(cuda_emulator::meeting::block);
}
inline void __syncwarp(unsigned) {
  cuda_emulator::meet(cuda_emulator::meeting::warp);
}
inline unsigned long long __shfl_down_sync(unsigned, unsigned long long mine, unsigned offset) {
  return cuda_emulator::exchange(mine, threadIdx.x % 32 + offset);
}
inline unsigned __shfl_sync(unsigned, unsigned mine, int lane) {
  return static_cast<unsigned>(cuda_emulator::exchange(mine, static_cast<unsigned>(lane)));
}
inline unsigned __ballot_sync(unsigned, bool mine) {
  return cuda_emulator::ballot(mine);
}
inline int __popc(unsigned of) {
  return __builtin_popcount(of);
}
inline int __ffs(int of) {
  return __builtin_ffs(of);
}
inline unsigned long long atomicCAS(unsigned long long* at, unsigned long long expected, unsigned long long value) {
  auto const found = *at;
  if (found == expected) *at = value;
  return found;
}
inline int atomicAdd(int* at, int more) {
  auto const found = *at;
  *at = static_cast<int>(static_cast<unsigned>(found) + static_cast<unsigned>(more));
  return found;
}
inline int __float_as_int(float of) {
  int bits = 0;
  __builtin_memcpy(&bits, &of, sizeof bits);
  return bits;
}
inline unsigned long long atomicExch(unsigned long long* at, unsigned long long value) {
  auto const found = *at;
  *at = value;
  return found;
}
