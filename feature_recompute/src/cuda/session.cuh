// One device at work: the store that lies on it, and jobs computed from it in batches, two at a time. The host's side, the same for a
// device and for its emulation: `Machine` is what differs.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "cuda/lane.cuh"
#include "cuda/resident.cuh"

namespace atone::features::cuda {

template <class Machine>
class session {
 public:
  session(std::unique_ptr<Machine> on, device_tuning const& how)
      : machine_(std::move(on)),
        how_(how),
        resident_(*machine_),
        plan_(*machine_),
        masks_(*machine_),
        lanes_{{*machine_, how, 0}, {*machine_, how, 1}} {}

  device_status keep(flat_store const& store, device_words& why) {
    machine_->enter();
    nothing_under_way const at_the_end{*this};
    auto const status = resident_.bring(store, why);
    return status == device_status::done ? settled(why) : honest(status, why);
  }

  device_status compute(device_job const& from, device_words& why) {
    if (!resident_.is_there()) return refuse(why, "there is no store on the device");
    machine_->enter();
    nothing_under_way const at_the_end{*this};
    job made;
    auto status = bring_plan(from, made, why);
    auto const batch = rows_of_batch(from);
    if (status == device_status::done && batch == 0)
      return refuse(why, "one row of results is larger than the memory for results", how_.result_bytes);
    unsigned turn = 0;
    for (std::uint64_t first = 0; status == device_status::done && first < from.rows; first += batch) {
      auto& lane = lanes_[turn++ % 2];
      batch_rows const rows{first, static_cast<std::uint32_t>(std::min(batch, from.rows - first))};
      status = lane.finish(from) ? lane.start(from, made, rows, has_distinct_, why) : broken(why);
    }
    // Also when one was refused: nothing of this job may be under way when its memory goes.
    bool good = true;
    for (auto& lane : lanes_) good = lane.finish(from) && good;
    return good ? honest(status, why) : broken(why);
  }

 private:
  // However a call ends, also when the host has no memory in the midst of it: what is still on its way belongs to no other job, whose
  // memory is of another size, and nobody reads memory that has gone.
  struct nothing_under_way {
    session& of;
    explicit nothing_under_way(session& in) : of(in) {}
    ~nothing_under_way() {
      for (auto& lane : of.lanes_) lane.drop();
    }
    nothing_under_way(nothing_under_way const&) = delete;
    nothing_under_way& operator=(nothing_under_way const&) = delete;
  };

  // No memory, said a device that can do nothing any more: that is no refusal.
  device_status honest(device_status status, device_words& why) {
    return status == device_status::refused && !machine_->is_good() ? broken(why) : status;
  }
  device_status broken(device_words& why) {
    std::snprintf(why.text, sizeof why.text, "%s", machine_->trouble());
    return device_status::failed;
  }
  device_status settled(device_words& why) { return machine_->settle(0) ? device_status::done : broken(why); }

  device_status bring_plan(device_job const& from, job& made, device_words& why) {
    auto& all = plan_bytes_;
    all.clear();
    auto const& plan = from.plan;
    auto const numbers = all.add(plan.numbers);
    auto const conditions = all.add(plan.conditions);
    auto const filters = all.add(plan.filters);
    auto const frames = all.add(plan.frames);
    auto const walks = all.add(plan.walks);
    auto const stops = all.add(plan.stops);
    auto const sinks = all.add(plan.sinks);
    auto const quotients = all.add(plan.quotients);
    auto const& columns = resident_.columns();
    auto const columns_at = all.add(columns.data(), columns.size());
    if (!plan_.reserve(all.size() + 1)) return refuse(why, "the plan needs more memory than the device has free", all.size());
    auto* const base = plan_.at();
    machine_->copy_in(0, base, all.data(), all.size());
    made.store = resident_.store();
    made.store.columns = packed::placed<flat_column>(base, columns_at, static_cast<std::uint32_t>(columns.size()));
    made.plan.numbers = packed::placed<std::int64_t>(base, numbers, plan.numbers.size);
    made.plan.conditions = packed::placed<flat_condition>(base, conditions, plan.conditions.size);
    made.plan.filters = packed::placed<flat_filter>(base, filters, plan.filters.size);
    made.plan.frames = packed::placed<flat_frame>(base, frames, plan.frames.size);
    made.plan.walks = packed::placed<walk>(base, walks, plan.walks.size);
    made.plan.stops = packed::placed<stop>(base, stops, plan.stops.size);
    made.plan.sinks = packed::placed<sink>(base, sinks, plan.sinks.size);
    made.plan.quotients = packed::placed<quotient>(base, quotients, plan.quotients.size);
    made.decay = resident_.decay();
    has_distinct_ =
        std::any_of(plan.walks.at, plan.walks.at + plan.walks.size, [](walk const& one) { return one.kind == walk_kind::distinct; });
    for (std::uint32_t at = 0; at < plan.frames.size; ++at) made.time_frames += plan.frames.at[at].rows == 0 ? 1 : 0;
    auto const status = bring_masks(made, why);
    return status == device_status::done ? settled(why) : status;
  }

  device_status bring_masks(job& made, device_words& why) {
    auto const rows = made.store.rows;
    if (made.plan.filters.size < 2 || rows == 0) return device_status::done;
    auto const bytes = std::size_t{rows} * sizeof(std::uint64_t);
    if (!masks_.reserve(bytes)) {
      settled(why);  // the plan is still being copied
      return refuse(why, "the filters need more memory than the device has free", bytes);
    }
    auto const wanted = (rows + how_.block_threads - 1) / how_.block_threads;
    machine_->launch(0, fill_masks, std::min(wanted, machine_->blocks_most()), how_.block_threads, made,
                     masks_.template as<std::uint64_t>());
    made.masks = masks_.template as<std::uint64_t>();
    return device_status::done;
  }

  std::uint64_t rows_of_batch(device_job const& from) const {
    using batch = lane<Machine>;
    auto const fixed = batch::bytes_of_columns(from);
    auto const row = batch::bytes_of_row(from) + sizeof(row_request) + sizeof(std::uint32_t);
    if (fixed + row > how_.result_bytes) return 0;
    return std::min<std::uint64_t>((how_.result_bytes - fixed) / row, UINT32_MAX / 2);
  }

  std::unique_ptr<Machine> machine_;
  device_tuning how_;
  bool has_distinct_ = false;
  resident<Machine> resident_;
  packed plan_bytes_;  // not of one call: it may still be on its way when the call is left
  device_buffer<Machine> plan_;
  device_buffer<Machine> masks_;
  lane<Machine> lanes_[2];
};

}  // namespace atone::features::cuda
