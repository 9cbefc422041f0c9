// Flat structs in one piece of memory that two processes see at different places: pointers become distances while they travel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "device/interface.hpp"

namespace atone::features {

// Places arrays one behind the other. Without memory it only measures.
class arena {
 public:
  explicit arena(unsigned char* base = nullptr) : base_(base) {}
  std::size_t size() const { return size_; }

  // A copy; null stays null.
  template <class T>
  T* place(T const* from, std::size_t count) {
    if (from == nullptr) return nullptr;
    auto* const here = room<T>(count);
    if (base_ != nullptr && count > 0) std::memcpy(here, from, count * sizeof(T));
    return here;
  }
  // Room without a copy.
  template <class T>
  T* room(std::size_t count) {
    constexpr std::size_t unit = 64;
    auto const at = size_;
    size_ += (count * sizeof(T) + unit - 1) / unit * unit + unit;  // never at the same place, also when empty
    return reinterpret_cast<T*>(base_ == nullptr ? nullptr : base_ + at);
  }
  template <class T>
  flat_list<T> place(flat_list<T> const& from) {
    return flat_list<T>{place(from.at, from.size), from.size};
  }

 private:
  unsigned char* base_;
  std::size_t size_ = 0;
};

// One behind, so that null stays null.
class pointers_to_distances {
 public:
  explicit pointers_to_distances(unsigned char const* base) : base_(base) {}
  template <class T>
  void operator()(T*& of) const {
    if (of == nullptr) return;
    auto const distance = reinterpret_cast<unsigned char const*>(of) - base_ + 1;
    of = reinterpret_cast<T*>(static_cast<std::uintptr_t>(distance));
  }

 private:
  unsigned char const* base_;
};

class distances_to_pointers {
 public:
  explicit distances_to_pointers(unsigned char* base) : base_(base) {}
  template <class T>
  void operator()(T*& of) const {
    if (of == nullptr) return;
    of = reinterpret_cast<T*>(base_ + reinterpret_cast<std::uintptr_t>(of) - 1);
  }

 private:
  unsigned char* base_;
};

// A store as it lies in shared memory: this first, its arrays behind it.
struct store_image {
  flat_store store;
};
struct job_image {
  device_job job;
};

flat_column* columns_of(store_image& image);
flat_result* results_of(job_image& image);

// Copies the store into the arena, pointers as they are in this process.
store_image* place_store(arena& into, flat_store const& from);
// Likewise a job, with room for its results.
job_image* place_job(arena& into, device_job const& from);

// All pointers of an image. Inner lists before they turn into distances, or after they have turned back.
void to_distances(store_image& image);
void to_distances(job_image& image);
void to_pointers(store_image& image);
void to_pointers(job_image& image);

}  // namespace atone::features
