// One device at work: the store that lies on it, and batches of rows computed from it. The host's side, the same for a device and for its
// emulation: `Machine` is what differs.
#pragma once

#include <memory>
#include <new>

#include "cuda/classes.cuh"
#include "cuda/kernels.cuh"
#include "cuda/packed.cuh"

namespace atone::features::cuda {

template <class Machine>
class session {
 public:
  session(std::unique_ptr<Machine> on, device_tuning const& how)
      : machine_(std::move(on)),
        how_(how),
        store_(*machine_),
        decay_(*machine_),
        plan_(*machine_),
        masks_(*machine_),
        batch_(*machine_),
        results_(*machine_),
        starts_(*machine_),
        seen_(*machine_) {}

  device_status keep(flat_store const& store, device_words& why) {
    kept_ = false;
    columns_.assign(store.columns.at, store.columns.at + store.columns.size);
    auto const bytes = bytes_of(store);
    if (!store_.reserve(bytes)) return refuse(why, "the store needs more memory than the device has free", bytes);
    on_device_ = store;
    auto* at = store_.template as<unsigned char>();
    on_device_.times = move_in(at, store.times, store.rows);
    on_device_.known_from = move_in(at, store.known_from, store.rows);
    on_device_.known_until = move_in(at, store.known_until, store.rows);
    for (auto& column : columns_) {
      // The times stand in columns too: once on the device.
      if (column.values == store.times) {
        column.values = on_device_.times;
      } else if (column.values != nullptr && column.values == store.known_from) {
        column.values = on_device_.known_from;
      } else {
        column.values = move_in(at, column.values, store.rows);
      }
      column.nulls = move_in(at, column.nulls, store.rows);
    }
    if (!bring_decay(why)) return device_status::failed;
    kept_ = true;
    return settled(why);
  }

  device_status compute(device_job const& from, device_words& why) {
    if (!kept_) return refuse(why, "there is no store on the device", 0);
    job made;
    auto const status = bring_plan(from, made, why);
    if (status != device_status::done || from.rows == 0) return status;
    auto const batch = rows_of_batch(from);
    if (batch == 0) return refuse(why, "one row of results is larger than the memory for results", how_.result_bytes);
    for (std::uint64_t first = 0; first < from.rows; first += batch) {
      auto const rows = static_cast<std::uint32_t>(std::min(batch, from.rows - first));
      auto const done = compute_batch(from, made, first, rows, why);
      if (done != device_status::done) return done;
    }
    return device_status::done;
  }

 private:
  static constexpr std::size_t unit = 256;  // what arrays on the device are aligned to
  static std::size_t aligned(std::size_t bytes) { return (bytes + unit - 1) / unit * unit; }

  static device_status refuse(device_words& why, char const* what, std::uint64_t bytes) {
    if (bytes == 0) {
      std::snprintf(why.text, sizeof why.text, "%s", what);
    } else {
      std::snprintf(why.text, sizeof why.text, "%s (%llu bytes)", what, static_cast<unsigned long long>(bytes));
    }
    return device_status::refused;
  }

  // Waits for all that was asked of the machine.
  device_status settled(device_words& why) {
    if (machine_->settle()) return device_status::done;
    std::snprintf(why.text, sizeof why.text, "%s", machine_->trouble());
    return device_status::failed;
  }

  static std::size_t bytes_of(flat_store const& store) {
    auto const words = aligned(std::size_t{store.rows} * sizeof(std::int64_t));
    std::size_t bytes = words + (store.known_from == nullptr ? 0 : 2 * words) + unit;
    for (std::uint32_t at = 0; at < store.columns.size; ++at) {
      auto const& column = store.columns.at[at];
      bytes += (column.values == nullptr ? 0 : words) + (column.nulls == nullptr ? 0 : aligned(store.rows));
    }
    return bytes;
  }

  // Copies to the place `at` points to, and moves it on; what is not there stays away.
  template <class T>
  T const* move_in(unsigned char*& at, T const* from, std::size_t size) {
    if (from == nullptr) return nullptr;
    auto* const here = reinterpret_cast<T*>(at);
    machine_->copy_in(here, from, size * sizeof(T));
    at += aligned(size * sizeof(T));
    return here;
  }

  bool bring_decay(device_words& why) {
    static constexpr decay_table table{};
    if (decay_.at() != nullptr) return true;
    if (!decay_.reserve(sizeof table)) return refuse(why, "no memory for the table of decay", sizeof table) == device_status::done;
    machine_->copy_in(decay_.at(), &table, sizeof table);
    return true;
  }

  device_status bring_plan(device_job const& from, job& made, device_words& why) {
    packed all;
    auto const& plan = from.plan;
    auto const numbers = all.add(plan.numbers);
    auto const conditions = all.add(plan.conditions);
    auto const filters = all.add(plan.filters);
    auto const frames = all.add(plan.frames);
    auto const walks = all.add(plan.walks);
    auto const stops = all.add(plan.stops);
    auto const sinks = all.add(plan.sinks);
    auto const quotients = all.add(plan.quotients);
    auto const columns = all.add(columns_.data(), columns_.size());
    if (!plan_.reserve(all.size() + 1)) return refuse(why, "the plan needs more memory than the device has free", all.size());
    auto* const base = plan_.at();
    machine_->copy_in(base, all.data(), all.size());
    made.store = on_device_;
    made.store.columns = packed::placed<flat_column>(base, columns, static_cast<std::uint32_t>(columns_.size()));
    made.plan.numbers = packed::placed<std::int64_t>(base, numbers, plan.numbers.size);
    made.plan.conditions = packed::placed<flat_condition>(base, conditions, plan.conditions.size);
    made.plan.filters = packed::placed<flat_filter>(base, filters, plan.filters.size);
    made.plan.frames = packed::placed<flat_frame>(base, frames, plan.frames.size);
    made.plan.walks = packed::placed<walk>(base, walks, plan.walks.size);
    made.plan.stops = packed::placed<stop>(base, stops, plan.stops.size);
    made.plan.sinks = packed::placed<sink>(base, sinks, plan.sinks.size);
    made.plan.quotients = packed::placed<quotient>(base, quotients, plan.quotients.size);
    made.decay = decay_.template as<decay_table>();
    has_distinct_ = false;
    for (std::uint32_t at = 0; at < plan.walks.size; ++at) has_distinct_ = has_distinct_ || plan.walks.at[at].kind == walk_kind::distinct;
    for (std::uint32_t at = 0; at < plan.frames.size; ++at) made.time_frames += plan.frames.at[at].rows == 0 ? 1 : 0;
    return bring_masks(made, why);
  }

  device_status bring_masks(job& made, device_words& why) {
    auto const rows = made.store.rows;
    if (made.plan.filters.size < 2 || rows == 0) return settled(why);
    auto const bytes = std::size_t{rows} * sizeof(std::uint64_t);
    if (!masks_.reserve(bytes)) return refuse(why, "the filters need more memory than the device has free", bytes);
    auto const wanted = (rows + how_.block_threads - 1) / how_.block_threads;
    machine_->launch(fill_masks, std::min(wanted, machine_->blocks_most()), how_.block_threads, made, masks_.template as<std::uint64_t>());
    made.masks = masks_.template as<std::uint64_t>();
    return settled(why);
  }

  // Results of one batch: a column's cells, then its states.
  static std::size_t bytes_of_column(flat_result const& column, std::uint64_t rows) {
    auto const cells = rows * column.lanes;
    return aligned(cells * sizeof(std::int64_t)) + (column.states == nullptr ? 0 : aligned(cells * sizeof(cell_state)));
  }

  std::uint64_t rows_of_batch(device_job const& from) const {
    std::uint64_t row = sizeof(row_request) + sizeof(std::uint32_t);
    std::uint64_t fixed = 0;
    for (std::uint32_t at = 0; at < from.results.size; ++at) {
      auto const& column = from.results.at[at];
      row += column.lanes * (sizeof(std::int64_t) + (column.states == nullptr ? 0 : sizeof(cell_state)));
      fixed += 2 * unit;
    }
    if (fixed + row > how_.result_bytes) return 0;
    return std::min<std::uint64_t>((how_.result_bytes - fixed) / row, UINT32_MAX / 2);
  }

  device_status compute_batch(device_job const& from, job made, std::uint64_t first, std::uint32_t rows, device_words& why) {
    std::vector<flat_result> there;
    auto const bytes = place_results(from, rows, nullptr, there);
    if (!results_.reserve(bytes)) return refuse(why, "the results need more memory than the device has free", bytes);
    place_results(from, rows, results_.template as<unsigned char>(), there);
    classes_.sort(from.requests + first, rows, how_);
    packed all;
    auto const requests = all.add(from.requests + first, rows);
    auto const results = all.add(there.data(), there.size());
    std::size_t lists[size_classes] = {};
    for (std::size_t one = 0; one < size_classes; ++one) lists[one] = all.add(classes_.rows[one].data(), classes_.rows[one].size());
    if (!batch_.reserve(all.size())) return refuse(why, "the requests need more memory than the device has free", all.size());
    machine_->copy_in(batch_.at(), all.data(), all.size());
    made.requests = packed::placed<row_request>(batch_.at(), requests, rows).at;
    made.results = packed::placed<flat_result>(batch_.at(), results, static_cast<std::uint32_t>(there.size()));
    auto const list = [&](size_class of) {
      auto const at = static_cast<std::size_t>(of);
      return packed::placed<std::uint32_t>(batch_.at(), lists[at], static_cast<std::uint32_t>(classes_.rows[at].size()));
    };
    auto status = run_class<thread_group>(made, size_class::thread, list(size_class::thread), 1, why);
    if (status == device_status::done) status = run_class<warp_group>(made, size_class::warp, list(size_class::warp), warp_threads, why);
    if (status == device_status::done)
      status = run_class<block_group>(made, size_class::block, list(size_class::block), how_.block_threads, why);
    if (status != device_status::done) return status;
    fetch_results(from, first, rows, there);
    return settled(why);
  }

  // Where the columns of a batch lie behind `base`; the bytes they take.
  std::size_t place_results(device_job const& from, std::uint32_t rows, unsigned char* base, std::vector<flat_result>& there) const {
    there.clear();
    std::size_t at = 0;
    for (std::uint32_t column = 0; column < from.results.size; ++column) {
      auto made = from.results.at[column];
      auto const cells = std::size_t{rows} * made.lanes;
      auto const bytes = bytes_of_column(made, rows);
      if (base != nullptr) {
        made.cells = reinterpret_cast<std::int64_t*>(base + at);
        if (made.states != nullptr) made.states = reinterpret_cast<cell_state*>(base + at + aligned(cells * sizeof(std::int64_t)));
        there.push_back(made);
      }
      at += bytes;
    }
    return at;
  }

  void fetch_results(device_job const& from, std::uint64_t first, std::uint32_t rows, std::vector<flat_result> const& there) {
    for (std::size_t column = 0; column < there.size(); ++column) {
      auto const& to = from.results.at[column];
      auto const cells = std::size_t{rows} * to.lanes;
      machine_->copy_out(to.cells + first * to.lanes, there[column].cells, cells * sizeof(std::int64_t));
      if (to.states != nullptr) machine_->copy_out(to.states + first * to.lanes, there[column].states, cells * sizeof(cell_state));
    }
  }

  // As many groups at a time as the rows need, the machine likes and the scratch memory allows.
  template <class Group>
  device_status run_class(job made, size_class of, flat_list<std::uint32_t> const& rows, std::uint32_t group_threads, device_words& why) {
    if (rows.size == 0) return device_status::done;
    auto const groups_of_block = how_.block_threads / group_threads;
    if (has_distinct_ && !Group::alone) made.seen_size = seen_places(classes_.events_most[static_cast<std::size_t>(of)]) + 1;
    auto const start_bytes = std::uint64_t{groups_of_block} * made.plan.frames.size * sizeof(std::uint32_t);
    auto const seen_bytes = groups_of_block * made.seen_size * sizeof(word);
    auto blocks = std::min<std::uint64_t>((rows.size + groups_of_block - 1) / groups_of_block, machine_->blocks_most());
    auto const bytes_of_block = start_bytes + seen_bytes;
    if (bytes_of_block > 0) blocks = std::min(blocks, how_.scratch_bytes / bytes_of_block);
    if (blocks == 0)
      return refuse(why, "the values of one entity, to tell which are distinct, need more than the scratch memory", bytes_of_block);
    if (!starts_.reserve(blocks * start_bytes + 1) || !seen_.reserve(blocks * seen_bytes + 1))
      return refuse(why, "the scratch memory is more than the device has free", blocks * bytes_of_block);
    made.starts = starts_.template as<std::uint32_t>();
    made.seen = seen_.template as<word>();
    machine_->launch(compute_rows<Group>, static_cast<std::uint32_t>(blocks), how_.block_threads, made, rows.at, rows.size);
    // Scratch memory is used by the next class too: on one stream it waits for this one.
    return device_status::done;
  }

  std::unique_ptr<Machine> machine_;
  device_tuning how_;
  bool kept_ = false;
  bool has_distinct_ = false;
  flat_store on_device_;
  std::vector<flat_column> columns_;  // their pointers are the device's
  class_rows classes_;
  buffer<Machine> store_;
  buffer<Machine> decay_;
  buffer<Machine> plan_;
  buffer<Machine> masks_;
  buffer<Machine> batch_;
  buffer<Machine> results_;
  buffer<Machine> starts_;
  buffer<Machine> seen_;
};

}  // namespace atone::features::cuda
