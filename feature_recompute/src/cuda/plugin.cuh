// The plug-in's C functions over one kind of machine. Nothing thrown leaves them.
#pragma once

#include <cstdio>
#include <memory>
#include <new>

#include "cuda/session.cuh"

namespace atone::features::cuda {

template <class Machine>
struct plugin {
  // What the core holds by its address.
  static session<Machine>* ours(device_session* of) { return reinterpret_cast<session<Machine>*>(of); }

  template <class Work>
  static device_status guarded(device_words* why, Work const& work) {
    try {
      return work();
    } catch (std::bad_alloc const&) {
      std::snprintf(why->text, sizeof why->text, "no memory on the host");
      return device_status::refused;
    } catch (...) {
      std::snprintf(why->text, sizeof why->text, "a library threw");
      return device_status::failed;
    }
  }

  static device_status look(device_driver* found, device_words* why) { return Machine::look(*found, *why); }
  static device_status describe(std::int32_t device, device_facts* found, device_words* why) {
    return Machine::describe(device, *found, *why);
  }
  static device_status open(std::int32_t device, device_tuning const* how, device_session** made, device_words* why) {
    return guarded(why, [&] {
      auto machine = std::make_unique<Machine>();
      auto const status = machine->open(device, *why);
      if (status != device_status::done) return status;
      *made = reinterpret_cast<device_session*>(new session<Machine>(std::move(machine), *how));
      return device_status::done;
    });
  }
  static void close(device_session* of) { delete ours(of); }
  static device_status keep(device_session* of, flat_store const* store, device_words* why) {
    return guarded(why, [&] { return ours(of)->keep(*store, *why); });
  }
  static device_status compute(device_session* of, device_job const* job, device_words* why) {
    return guarded(why, [&] { return ours(of)->compute(*job, *why); });
  }

  static device_interface made() {
    device_interface all;
    all.layout = device_layout();
    all.computes = (std::uint64_t{1} << (static_cast<unsigned>(aggregation::ratio) + 1)) - 1;  // every kind there is
    all.built = Machine::built;
    all.look = &look;
    all.describe = &describe;
    all.open = &open;
    all.close = &close;
    all.keep = &keep;
    all.compute = &compute;
    return all;
  }
};

}  // namespace atone::features::cuda
