// One batch of rows on its way: copied in, computed and copied out on a stream of its own, from and to pinned memory, so that the copies of
// one lane go on beside the kernels of the other.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda/buffer.cuh"
#include "cuda/classes.cuh"
#include "cuda/kernels.cuh"
#include "cuda/packed.cuh"
#include "cuda/refusal.cuh"

namespace atone::features::cuda {

// Which rows of a job a batch holds.
struct batch_rows {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
};

template <class Machine>
class lane {
 public:
  lane(Machine& on, device_tuning const& how, unsigned stream)
      : machine_(on), how_(how), stream_(stream), input_(on), results_(on), starts_(on), seen_(on), input_here_(on), results_here_(on) {}

  // Results of one batch: each column's cells, then its states.
  static std::size_t bytes_of_row(device_job const& of) {
    std::size_t bytes = 0;
    for (std::uint32_t at = 0; at < of.results.size; ++at) {
      auto const& column = of.results.at[at];
      bytes += column.lanes * (sizeof(std::int64_t) + (column.states == nullptr ? 0 : sizeof(cell_state)));
    }
    return bytes;
  }
  static std::size_t bytes_of_columns(device_job const& of) { return 2 * device_unit * of.results.size; }

  // Refused: nothing of this batch has run. `from` must stay until `finish`.
  device_status start(device_job const& from, job made, batch_rows rows, bool has_distinct, device_words& why) {
    batch_ = rows;
    classes_.sort(from.requests + rows.first, rows.count, how_);
    if (auto const status = make_room(from, made, has_distinct, why); status != device_status::done) return status;
    bring_input(from, made);
    made.starts = starts_.template as<std::uint32_t>();
    made.seen = seen_.template as<word>();
    run<thread_group>(made, size_class::thread);
    run<warp_group>(made, size_class::warp);
    run<block_group>(made, size_class::block);
    machine_.copy_out(stream_, results_here_.at(), results_.at(), result_bytes_);
    is_under_way_ = true;
    return device_status::done;
  }

  // Waits for the batch, if there is one, and puts its results where they are wanted. False: the machine is broken.
  bool finish(device_job const& from) {
    if (!is_under_way_) return true;
    is_under_way_ = false;
    if (!machine_.settle(stream_)) return false;
    place_results(from, results_here_.template as<unsigned char>());
    for (std::size_t column = 0; column < placed_.size(); ++column) {
      auto const& to = from.results.at[column];
      auto const cells = std::size_t{batch_.count} * to.lanes;
      std::memcpy(to.cells + batch_.first * to.lanes, placed_[column].cells, cells * sizeof(std::int64_t));
      if (to.states != nullptr) std::memcpy(to.states + batch_.first * to.lanes, placed_[column].states, cells * sizeof(cell_state));
    }
    return true;
  }

  // Waits for whatever is on the stream, and forgets it.
  void drop() {
    is_under_way_ = false;
    machine_.settle(stream_);
  }

 private:
  // How a size class is launched.
  struct launch_size {
    std::uint32_t blocks = 0;
    std::uint64_t seen_size = 0;
    std::uint64_t start_bytes = 0;
    std::uint64_t seen_bytes = 0;
  };

  static std::size_t index_of(size_class of) { return static_cast<std::size_t>(of); }

  // As many groups at a time as the rows need, the machine likes and the scratch memory allows; no block: it does not allow one.
  launch_size size_of(size_class of, std::uint32_t group_threads, std::uint32_t frames, bool has_distinct) const {
    launch_size made;
    auto const rows = classes_.rows[index_of(of)].size();
    auto const groups = how_.block_threads / group_threads;  // of a block
    if (has_distinct && of != size_class::thread) made.seen_size = seen_places(classes_.events_most[index_of(of)]) + 1;
    made.start_bytes = std::uint64_t{groups} * frames * sizeof(std::uint32_t);
    made.seen_bytes = groups * made.seen_size * sizeof(word);
    auto blocks = std::min<std::uint64_t>((rows + groups - 1) / groups, machine_.blocks_most());
    auto const bytes = made.start_bytes + made.seen_bytes;
    if (bytes > 0) blocks = std::min(blocks, how_.scratch_bytes / bytes);
    made.blocks = static_cast<std::uint32_t>(blocks);
    return made;
  }

  device_status make_room(device_job const& from, job const& made, bool has_distinct, device_words& why) {
    sizes_[index_of(size_class::thread)] = size_of(size_class::thread, 1, made.plan.frames.size, has_distinct);
    sizes_[index_of(size_class::warp)] = size_of(size_class::warp, warp_threads, made.plan.frames.size, has_distinct);
    sizes_[index_of(size_class::block)] = size_of(size_class::block, how_.block_threads, made.plan.frames.size, has_distinct);
    std::uint64_t starts = 1;
    std::uint64_t seen = 1;
    for (std::size_t one = 0; one < size_classes; ++one) {
      auto const& size = sizes_[one];
      if (!classes_.rows[one].empty() && size.blocks == 0)
        return refuse(why, "the values of one entity, to tell which are distinct, need more than the scratch memory", size.seen_bytes);
      starts = std::max(starts, size.blocks * size.start_bytes);
      seen = std::max(seen, size.blocks * size.seen_bytes);
    }
    result_bytes_ = place_results(from, nullptr);
    if (!starts_.reserve(starts) || !seen_.reserve(seen) || !results_.reserve(result_bytes_ + 1))
      return refuse(why, "a batch needs more memory than the device has free", starts + seen + result_bytes_);
    if (!results_here_.reserve(result_bytes_ + 1)) return refuse(why, "no pinned memory for results", result_bytes_);
    pack_input(from);
    if (!input_.reserve(packed_.size() + 1) || !input_here_.reserve(packed_.size() + 1))
      return refuse(why, "no memory for the requests of a batch", packed_.size());
    return device_status::done;
  }

  void pack_input(device_job const& from) {
    place_results(from, results_.template as<unsigned char>());
    packed_.clear();
    requests_at_ = packed_.add(from.requests + batch_.first, batch_.count);
    results_at_ = packed_.add(placed_.data(), placed_.size());
    for (std::size_t one = 0; one < size_classes; ++one) lists_at_[one] = packed_.add(classes_.rows[one].data(), classes_.rows[one].size());
  }

  void bring_input(device_job const& from, job& made) {
    std::memcpy(input_here_.at(), packed_.data(), packed_.size());
    machine_.copy_in(stream_, input_.at(), input_here_.at(), packed_.size());
    made.requests = packed::placed<row_request>(input_.at(), requests_at_, batch_.count).at;
    made.results = packed::placed<flat_result>(input_.at(), results_at_, from.results.size);
  }

  // Where the columns of the batch lie behind `base`, to `placed_`; the bytes they take.
  std::size_t place_results(device_job const& from, unsigned char* base) {
    placed_.clear();
    std::size_t at = 0;
    for (std::uint32_t column = 0; column < from.results.size; ++column) {
      auto made = from.results.at[column];
      auto const cells = std::size_t{batch_.count} * made.lanes;
      auto const cell_bytes = aligned(cells * sizeof(std::int64_t));
      if (base != nullptr) {
        made.cells = reinterpret_cast<std::int64_t*>(base + at);
        if (made.states != nullptr) made.states = reinterpret_cast<cell_state*>(base + at + cell_bytes);
        placed_.push_back(made);
      }
      at += cell_bytes + (made.states == nullptr ? 0 : aligned(cells * sizeof(cell_state)));
    }
    return at;
  }

  // On one stream a class waits for the one before: they share the scratch memory.
  template <class Group>
  void run(job made, size_class of) {
    auto const at = index_of(of);
    auto const count = static_cast<std::uint32_t>(classes_.rows[at].size());
    if (count == 0) return;
    made.seen_size = sizes_[at].seen_size;
    auto const* const rows = packed::placed<std::uint32_t>(input_.at(), lists_at_[at], count).at;
    machine_.launch(stream_, compute_rows<Group>, sizes_[at].blocks, how_.block_threads, made, rows, count);
  }

  Machine& machine_;
  device_tuning how_;
  unsigned stream_;
  bool is_under_way_ = false;
  batch_rows batch_;
  class_rows classes_;
  launch_size sizes_[size_classes];
  packed packed_;
  std::size_t requests_at_ = 0;
  std::size_t results_at_ = 0;
  std::size_t lists_at_[size_classes] = {};
  std::size_t result_bytes_ = 0;
  std::vector<flat_result> placed_;
  device_buffer<Machine> input_;
  device_buffer<Machine> results_;
  device_buffer<Machine> starts_;
  device_buffer<Machine> seen_;
  pinned_buffer<Machine> input_here_;
  pinned_buffer<Machine> results_here_;
};

}  // namespace atone::features::cuda
