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

constexpr std::uint32_t mixed_in(std::uint32_t mixed, std::initializer_list<std::size_t> words) {
  for (auto const one : words) mixed = mixed * 31 + static_cast<std::uint32_t>(one);
  return mixed;
}

constexpr std::uint32_t flat_layout(std::uint32_t mixed) {
  mixed = mixed_in(mixed, {sizeof(flat_condition), offsetof(flat_condition, column), offsetof(flat_condition, first_number),
                           offsetof(flat_condition, end_number), offsetof(flat_condition, is_range), offsetof(flat_condition, least),
                           offsetof(flat_condition, most)});
  mixed = mixed_in(mixed, {sizeof(flat_filter), offsetof(flat_filter, first_condition), offsetof(flat_filter, end_condition)});
  mixed = mixed_in(mixed, {sizeof(flat_frame), offsetof(flat_frame, length), offsetof(flat_frame, rows), offsetof(flat_frame, filter)});
  mixed = mixed_in(mixed,
                   {sizeof(flat_column), offsetof(flat_column, values), offsetof(flat_column, nulls), offsetof(flat_column, nulls_count)});
  mixed = mixed_in(mixed, {sizeof(flat_result), offsetof(flat_result, cells), offsetof(flat_result, states), offsetof(flat_result, lanes)});
  mixed = mixed_in(mixed, {sizeof(flat_plan), offsetof(flat_plan, numbers), offsetof(flat_plan, conditions), offsetof(flat_plan, filters),
                           offsetof(flat_plan, frames), offsetof(flat_plan, walks), offsetof(flat_plan, stops), offsetof(flat_plan, sinks),
                           offsetof(flat_plan, quotients)});
  mixed = mixed_in(mixed, {sizeof(flat_store), offsetof(flat_store, rows), offsetof(flat_store, times), offsetof(flat_store, known_from),
                           offsetof(flat_store, known_until), offsetof(flat_store, columns)});
  return mixed;
}

constexpr std::uint32_t part_layout(std::uint32_t mixed) {
  mixed = mixed_in(mixed, {sizeof(walk), offsetof(walk, kind), offsetof(walk, filter), offsetof(walk, column), offsetof(walk, first_stop),
                           offsetof(walk, end_stop), offsetof(walk, keep), offsetof(walk, no_intervals), offsetof(walk, squares),
                           offsetof(walk, gaps), offsetof(walk, rate)});
  mixed =
      mixed_in(mixed, {sizeof(decay_rate), offsetof(decay_rate, reciprocal), offsetof(decay_rate, zero_age), offsetof(decay_rate, shift)});
  mixed = mixed_in(mixed, {sizeof(stop), offsetof(stop, frame), offsetof(stop, first_sink), offsetof(stop, end_sink)});
  mixed = mixed_in(mixed, {sizeof(sink), offsetof(sink, what), offsetof(sink, sample), offsetof(sink, column), offsetof(sink, scale)});
  mixed = mixed_in(mixed, {sizeof(quotient), offsetof(quotient, column), offsetof(quotient, upper), offsetof(quotient, lower)});
  mixed = mixed_in(mixed, {sizeof(row_request), offsetof(row_request, begin), offsetof(row_request, end), offsetof(row_request, as_of),
                           offsetof(row_request, known_at)});
  return mixed;
}

constexpr std::uint32_t call_layout(std::uint32_t mixed) {
  mixed = mixed_in(mixed, {sizeof(device_facts), offsetof(device_facts, name), offsetof(device_facts, major), offsetof(device_facts, minor),
                           offsetof(device_facts, processors), offsetof(device_facts, memory), offsetof(device_facts, memory_free)});
  mixed = mixed_in(
      mixed, {sizeof(device_driver), offsetof(device_driver, devices), offsetof(device_driver, driver), offsetof(device_driver, runtime)});
  mixed = mixed_in(mixed,
                   {sizeof(device_tuning), offsetof(device_tuning, thread_rows), offsetof(device_tuning, warp_rows),
                    offsetof(device_tuning, block_threads), offsetof(device_tuning, scratch_bytes), offsetof(device_tuning, result_bytes)});
  mixed = mixed_in(mixed, {sizeof(device_job), offsetof(device_job, plan), offsetof(device_job, requests), offsetof(device_job, rows),
                           offsetof(device_job, results)});
  mixed = mixed_in(mixed, {sizeof(device_interface), offsetof(device_interface, computes), offsetof(device_interface, built),
                           offsetof(device_interface, look), offsetof(device_interface, describe), offsetof(device_interface, open),
                           offsetof(device_interface, close), offsetof(device_interface, keep), offsetof(device_interface, compute)});
  return mixed;
}

// Differs where the structs that cross differ: in size, in where a member lies, or in how many values an enumeration has. Two members of
// one type that have changed places are seen, two values of an enumeration are not: that is what device_interface_version is for.
constexpr std::uint32_t device_layout() {
  auto const mixed = call_layout(part_layout(flat_layout(17)));
  return mixed_in(mixed, {sizeof(device_words), static_cast<std::size_t>(aggregation::ratio), static_cast<std::size_t>(walk_kind::decay),
                          static_cast<std::size_t>(cell_state::overflow), static_cast<std::size_t>(device_status::unfit)});
}

}  // namespace atone::features
