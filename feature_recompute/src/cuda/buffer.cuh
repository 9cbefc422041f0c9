// Memory that grows and is used again: in steady state nothing is allocated. Nothing may be under way that uses it when it grows.
#pragma once

#include <cstddef>

namespace atone::features::cuda {

// `Place` says where: memory of the device, or pinned memory of the host; see machine.cuh.
template <class Machine, class Place>
class buffer {
 public:
  explicit buffer(Machine& on) : machine_(on) {}
  ~buffer() { Place::release(machine_, at_); }
  buffer(buffer const&) = delete;
  buffer& operator=(buffer const&) = delete;

  // At least so many bytes; what was in it is lost. False: there is not so much.
  bool reserve(std::size_t bytes) {
    if (bytes <= size_) return true;
    Place::release(machine_, at_);
    size_ = 0;
    at_ = Place::allocate(machine_, bytes);
    if (at_ != nullptr) size_ = bytes;
    return at_ != nullptr;
  }
  void* at() const { return at_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(at_);
  }

 private:
  Machine& machine_;
  void* at_ = nullptr;
  std::size_t size_ = 0;
};

struct on_device {
  template <class Machine>
  static void* allocate(Machine& machine, std::size_t bytes) {
    return machine.allocate(bytes);
  }
  template <class Machine>
  static void release(Machine& machine, void* at) {
    machine.release(at);
  }
};

// Copies from and to it need no help of the host's processor, and go on beside kernels.
struct pinned {
  template <class Machine>
  static void* allocate(Machine& machine, std::size_t bytes) {
    return machine.allocate_pinned(bytes);
  }
  template <class Machine>
  static void release(Machine& machine, void* at) {
    machine.release_pinned(at);
  }
};

template <class Machine>
using device_buffer = buffer<Machine, on_device>;
template <class Machine>
using pinned_buffer = buffer<Machine, pinned>;

}  // namespace atone::features::cuda
