// Memory of a device that grows and is used again: in steady state nothing is allocated.
#pragma once

#include <cstddef>

namespace atone::features::cuda {

// `Machine` says how: see machine.cuh.
template <class Machine>
class buffer {
 public:
  explicit buffer(Machine& on) : machine_(on) {}
  ~buffer() { machine_.release(at_); }
  buffer(buffer const&) = delete;
  buffer& operator=(buffer const&) = delete;

  // At least so many bytes; what was in it is lost. False: the device has not so much.
  bool reserve(std::size_t bytes) {
    if (bytes <= size_) return true;
    machine_.release(at_);
    size_ = 0;
    at_ = machine_.allocate(bytes);
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

}  // namespace atone::features::cuda
