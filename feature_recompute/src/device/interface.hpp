// The interface of the plug-in that computes features on a device: C functions over plain structs, so that the core links nothing of it and
// either side can be told that it doesn't fit the other. A session belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "device/flat.hpp"

namespace atone::features {

inline constexpr std::uint32_t device_interface_version = 1;
inline constexpr char device_interface_symbol[] = "atone_features_device_v1";

// How a call went.
enum class device_status : std::int32_t {
  done = 0,
  no_device = 1,  // there is none, or no driver for it: a normal state of a machine
  refused = 2,    // there are no results: this job is not for this device (too large for its memory); another engine can do it
  failed = 3,     // the device can't be used by this process any more: end it
  unfit = 4,      // the plug-in is not built for this device, or is another version's: it will be the same next time
};

// Why a call went wrong, for a person.
struct device_words {
  char text[512] = {};
};

// What drives the devices.
struct device_driver {
  std::int32_t devices = 0;
  std::int32_t driver = 0;   // version × 1000 as the vendor counts; 0: there is none
  std::int32_t runtime = 0;  // of the plug-in
};

struct device_facts {
  char name[128] = {};
  std::int32_t major = 0;  // compute capability
  std::int32_t minor = 0;
  std::int32_t processors = 0;
  std::uint64_t memory = 0;
  std::uint64_t memory_free = 0;
};

// How a session works; results never depend on it.
struct device_tuning {
  std::uint32_t thread_rows = 32;                        // up to so many rows of an entity: one thread
  std::uint32_t warp_rows = 4096;                        // up to so many: one warp; beyond: one block
  std::uint32_t block_threads = 256;                     // a multiple of 32, at most 256
  std::uint64_t scratch_bytes = std::uint64_t{1} << 30;  // of each of the two batches under way
  std::uint64_t result_bytes = std::uint64_t{1} << 26;   // of one batch
};

// One batch of work for `compute`: a row of results a request.
struct device_job {
  flat_plan plan;
  row_request const* requests = nullptr;
  std::uint64_t rows = 0;
  flat_list<flat_result> results;  // where the host wants them
};

struct device_session;

struct device_interface {
  std::uint32_t version = device_interface_version;
  std::uint32_t layout = 0;     // device_layout() of the plug-in's build
  std::uint64_t computes = 0;   // kinds of feature, a bit each
  char const* built = nullptr;  // by what, for what, for a person
  device_status (*look)(device_driver* found, device_words* why) = nullptr;
  device_status (*describe)(std::int32_t device, device_facts* found, device_words* why) = nullptr;
  device_status (*open)(std::int32_t device, device_tuning const* how, device_session** made, device_words* why) = nullptr;
  void (*close)(device_session* of) = nullptr;
  // Copies the store to the device, where it stays until the next one.
  device_status (*keep)(device_session* of, flat_store const* store, device_words* why) = nullptr;
  device_status (*compute)(device_session* of, device_job const* job, device_words* why) = nullptr;
};

using device_interface_function = device_interface const* (*)();

// Differs where the structs that cross differ.
constexpr std::uint32_t device_layout() {
  std::uint32_t mixed = 17;
  for (auto const size : {sizeof(flat_condition), sizeof(flat_filter), sizeof(flat_frame), sizeof(flat_column), sizeof(flat_result),
                          sizeof(flat_plan), sizeof(flat_store), sizeof(walk), sizeof(stop), sizeof(sink), sizeof(quotient),
                          sizeof(row_request), sizeof(device_facts), sizeof(device_tuning), sizeof(device_job), sizeof(device_interface)})
    mixed = mixed * 31 + static_cast<std::uint32_t>(size);
  return mixed;
}

}  // namespace atone::features
