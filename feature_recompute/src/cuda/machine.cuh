// A CUDA device: memory, copies and launches on two streams. Every error is kept; those that poison the process's context come back from
// each call after them, so that one look at the end of a batch sees them.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>

#include "cuda/refusal.cuh"
#include "device/interface.hpp"

namespace atone::features::cuda {

class cuda_machine {
 public:
  static constexpr char built[] = "CUDA runtime " ATONE_CUDA_VERSION ", for " ATONE_CUDA_TARGETS;

  static device_status look(device_driver& found, device_words& why) {
    found.runtime = CUDART_VERSION;
    int driver = 0;
    cudaDriverGetVersion(&driver);  // without a driver: done, and 0
    found.driver = driver;
    int devices = 0;
    auto const told = cudaGetDeviceCount(&devices);
    if (told == cudaSuccess && devices > 0) {
      found.devices = devices;
      return device_status::done;
    }
    if (told == cudaErrorInsufficientDriver && driver == 0) {
      std::snprintf(why.text, sizeof why.text, "there is no NVIDIA driver on this machine (error %d)", static_cast<int>(told));
      return device_status::no_device;
    }
    return explained(told == cudaSuccess ? cudaErrorNoDevice : told, why, device_status::no_device);
  }

  static device_status describe(std::int32_t device, device_facts& found, device_words& why) {
    cudaDeviceProp facts{};
    auto told = cudaGetDeviceProperties(&facts, device);
    if (told != cudaSuccess) return explained(told, why, device_status::failed);
    std::snprintf(found.name, sizeof found.name, "%.*s", static_cast<int>(sizeof found.name) - 1, facts.name);
    found.major = facts.major;
    found.minor = facts.minor;
    found.processors = facts.multiProcessorCount;
    found.memory = facts.totalGlobalMem;
    std::size_t free = 0;
    std::size_t total = 0;
    told = cudaSetDevice(device);
    if (told == cudaSuccess) told = cudaMemGetInfo(&free, &total);
    if (told != cudaSuccess) return explained(told, why, device_status::failed);
    found.memory_free = free;
    return device_status::done;
  }

  cuda_machine() = default;
  ~cuda_machine() {
    for (auto* one : streams_) {
      if (one != nullptr) cudaStreamDestroy(one);
    }
  }
  cuda_machine(cuda_machine const&) = delete;
  cuda_machine& operator=(cuda_machine const&) = delete;

  device_status open(std::int32_t device, device_words& why) {
    device_ = device;
    int processors = 0;
    int major = 0;
    int minor = 0;
    enter();
    note(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    note(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    if (first_ == cudaSuccess && fits(major, minor, why) != device_status::done) return device_status::unfit;
    note(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    for (auto& one : streams_) note(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    processors_ = static_cast<std::uint32_t>(processors);
    return first_ == cudaSuccess ? device_status::done : explained(first_, why, device_status::failed);
  }

  // Before any work: a thread may use several devices in turn.
  void enter() { note(cudaSetDevice(device_)); }

  std::uint32_t blocks_most() const { return processors_ * blocks_of_processor; }

  // Null: there is not so much; that is no fault of the device.
  void* allocate(std::size_t bytes) {
    void* made = nullptr;
    auto const told = cudaMalloc(&made, bytes);
    if (told == cudaSuccess) return made;
    cudaGetLastError();  // or the next launch would report it
    if (told != cudaErrorMemoryAllocation) note(told);
    return nullptr;
  }
  void release(void* at) {
    if (at != nullptr) note(cudaFree(at));
  }
  void* allocate_pinned(std::size_t bytes) {
    void* made = nullptr;
    auto const told = cudaMallocHost(&made, bytes);
    if (told == cudaSuccess) return made;
    cudaGetLastError();
    if (told != cudaErrorMemoryAllocation) note(told);
    return nullptr;
  }
  void release_pinned(void* at) {
    if (at != nullptr) note(cudaFreeHost(at));
  }
  // What is copied must stay until the stream has settled.
  void copy_in(unsigned stream, void* to, void const* from, std::size_t bytes) {
    if (bytes > 0) note(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, streams_[stream]));
  }
  void copy_out(unsigned stream, void* to, void const* from, std::size_t bytes) {
    if (bytes > 0) note(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, streams_[stream]));
  }
  template <class... Parameters, class... Arguments>
  void launch(unsigned stream, void (*kernel)(Parameters...), std::uint32_t blocks, std::uint32_t threads, Arguments const&... with) {
    kernel<<<blocks, threads, 0, streams_[stream]>>>(with...);
    note(cudaGetLastError());
  }
  // Whether all that was asked for on the stream is done, and everything went well so far.
  bool settle(unsigned stream) {
    note(cudaStreamSynchronize(streams_[stream]));
    return first_ == cudaSuccess;
  }
  bool is_good() const { return first_ == cudaSuccess; }
  char const* trouble() const { return cudaGetErrorString(first_); }

 private:
  static constexpr std::uint32_t blocks_of_processor = 16;

  static device_status explained(cudaError_t told, device_words& why, device_status status) {
    std::snprintf(why.text, sizeof why.text, "%s (error %d)", cudaGetErrorString(told), static_cast<int>(told));
    return status;
  }
  void note(cudaError_t told) {
    if (first_ == cudaSuccess) first_ = told;
  }

  int device_ = 0;
  std::uint32_t processors_ = 1;
  cudaStream_t streams_[2] = {};
  cudaError_t first_ = cudaSuccess;
};

}  // namespace atone::features::cuda
