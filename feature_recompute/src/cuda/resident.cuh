// What stays on the device between jobs: the store, and the table of decay.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/buffer.cuh"
#include "cuda/refusal.cuh"
#include "device/flat.hpp"

namespace atone::features::cuda {

template <class Machine>
class resident {
 public:
  explicit resident(Machine& on) : machine_(on), memory_(on), decay_(on) {}

  bool is_there() const { return is_there_; }
  flat_store const& store() const { return store_; }
  std::vector<flat_column> const& columns() const { return columns_; }  // their pointers are the device's
  decay_table const* decay() const { return decay_.template as<decay_table>(); }

  // What is copied must stay until the machine has settled.
  device_status bring(flat_store const& from, device_words& why) {
    is_there_ = false;
    columns_.assign(from.columns.at, from.columns.at + from.columns.size);
    auto const bytes = bytes_of(from);
    if (!memory_.reserve(bytes)) return refuse(why, "the store needs more memory than the device has free", bytes);
    if (!decay_.reserve(sizeof table)) return refuse(why, "no memory for the table of decay", sizeof table);
    machine_.copy_in(0, decay_.at(), &table, sizeof table);
    auto* at = memory_.template as<unsigned char>();
    store_ = from;
    store_.times = move_in(at, from.times, from.rows);
    store_.known_from = move_in(at, from.known_from, from.rows);
    store_.known_until = move_in(at, from.known_until, from.rows);
    for (auto& column : columns_) {
      column.values = place_of(column.values, at, from);
      column.nulls = move_in(at, column.nulls, from.rows);
    }
    is_there_ = true;
    return device_status::done;
  }

 private:
  static constexpr decay_table table{};

  static std::size_t bytes_of(flat_store const& store) {
    auto const words = aligned(std::size_t{store.rows} * sizeof(std::int64_t));
    std::size_t bytes = words + (store.known_from == nullptr ? 0 : 2 * words) + device_unit;
    for (std::uint32_t at = 0; at < store.columns.size; ++at) {
      auto const& column = store.columns.at[at];
      bytes += (column.values == nullptr ? 0 : words) + (column.nulls == nullptr ? 0 : aligned(store.rows));
    }
    return bytes;
  }

  // The times stand in columns too: once on the device.
  std::int64_t const* place_of(std::int64_t const* values, unsigned char*& at, flat_store const& from) {
    if (values == from.times) return store_.times;
    if (values != nullptr && values == from.known_from) return store_.known_from;
    return move_in(at, values, from.rows);
  }

  // Copies to the place `at` points to, and moves it on; what is not there stays away.
  template <class T>
  T const* move_in(unsigned char*& at, T const* from, std::size_t size) {
    if (from == nullptr) return nullptr;
    auto* const here = reinterpret_cast<T*>(at);
    machine_.copy_in(0, here, from, size * sizeof(T));
    at += aligned(size * sizeof(T));
    return here;
  }

  Machine& machine_;
  bool is_there_ = false;
  flat_store store_;
  std::vector<flat_column> columns_;
  device_buffer<Machine> memory_;
  device_buffer<Machine> decay_;
};

}  // namespace atone::features::cuda
