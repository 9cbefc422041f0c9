#include <atone/features/recompute.hpp>

#include <algorithm>
#include <utility>

#include "device/flatten.hpp"
#include "device/worker_process.hpp"
#include "engine/compute.hpp"

namespace atone::features {
namespace {

using row_numbers = std::vector<std::uint32_t>;

std::uint64_t spread_bits(std::uint64_t of) {
  auto const mixed = of * 0x9E3779B97F4A7C15ULL;
  return mixed ^ (mixed >> 32);
}

std::vector<row_request> chosen(std::vector<row_request> const& from, row_numbers const& rows) {
  std::vector<row_request> made;
  made.reserve(rows.size());
  for (auto const row : rows) made.push_back(from[row]);
  return made;
}

std::vector<flat_result> results_of(feature_table const& table) {
  std::vector<flat_result> made;
  for (auto const& column : table.columns) made.push_back(flat_result{column.cells.get(), column.states.get(), column.lanes});
  return made;
}

// Results of some rows to their places in the table of all.
void scatter(std::vector<flat_result> const& from, row_numbers const& rows, feature_table& into) {
  for (std::size_t column = 0; column < from.size(); ++column) {
    auto const lanes = from[column].lanes;
    auto& to = into.columns[column];
    for (std::size_t at = 0; at < rows.size(); ++at) {
      auto const place = std::size_t{rows[at]} * lanes;
      std::copy_n(from[column].cells + at * lanes, lanes, to.cells.get() + place);
      if (to.states != nullptr) std::copy_n(from[column].states + at * lanes, lanes, to.states.get() + place);
    }
  }
}

// Whether row `at` of the one is row `row` of the other.
bool same_row(std::vector<flat_result> const& from, std::size_t at, std::vector<flat_result> const& to, std::size_t row) {
  for (std::size_t column = 0; column < from.size(); ++column) {
    auto const& left = from[column];
    auto const& right = to[column];
    auto const lanes = left.lanes;
    if (!std::equal(left.cells + at * lanes, left.cells + (at + 1) * lanes, right.cells + row * lanes)) return false;
    if (left.states != nullptr && !std::equal(left.states + at * lanes, left.states + (at + 1) * lanes, right.states + row * lanes))
      return false;
  }
  return true;
}

// A GPU, its worker when it is at work, and what the worker does now.
struct gpu_place {
  gpu_worker_options options;
  std::unique_ptr<worker_process> worker;
  std::shared_ptr<parked_process> parked = std::make_shared<parked_process>();
  bool has_store = false;
  bool is_store_refused = false;  // the store of now: it is not copied again for each job
  bool is_refusal_said = false;
  bool is_given_up = false;  // it will never work here
  timestamp retry_at = timestamp::min();
  duration pause{};  // before the last start; zero: it has worked well since
  std::string said;  // the last alert: nothing is said twice
  row_numbers rows;

  explicit gpu_place(gpu_worker_options of) : options(std::move(of)) {}

  void stop() noexcept {
    worker.reset();
    has_store = false;
  }
};

// However a try of all workers ends: none that was asked and not heard stays.
struct all_heard {
  std::vector<gpu_place*> const& of;
  explicit all_heard(std::vector<gpu_place*> const& workers) : of(workers) {}
  ~all_heard() {
    for (auto* one : of) {
      if (one->worker != nullptr && one->worker->is_asked()) one->stop();
    }
  }
  all_heard(all_heard const&) = delete;
  all_heard& operator=(all_heard const&) = delete;
};

}  // namespace

struct recomputer::impl {
  feature_set_ptr set;
  feature_plan plan;
  recompute_options options;
  std::vector<gpu_place> places;
  event_store const* store = nullptr;
  recompute_counts counts;

  impl(feature_set_ptr of, recompute_options with) : set(std::move(of)), plan(features::compile(*set)), options(std::move(with)) {
    for (auto const& one : options.gpus) places.emplace_back(one);
  }

  // What an alert throws is not the matter of who asks for features.
  void alert(gpu_place const& at, std::string const& words) const {
    if (!options.alert) return;
    try {
      options.alert("GPU " + std::to_string(at.options.gpu.device) + ": " + words);
    } catch (...) {
    }
  }

  // A change of its state.
  void say(gpu_place& at, std::string const& words) const {
    if (at.said == words) return;
    at.said = words;
    alert(at, words);
  }

  void put_off(gpu_place& at, error const& why) const {
    at.stop();
    at.is_given_up = why.code == errc::unsupported;
    auto const most = std::max(options.retry_after, options.retry_after_most);
    at.pause = at.pause == duration{} ? options.retry_after : std::min(at.pause * 2, most);
    at.retry_at = options.now() + at.pause;
    say(at, why.message);
  }

  void fail(gpu_place& at, error const& why) {
    ++counts.worker_failures;
    put_off(at, why);
  }

  // Only who works for as long as it had to pause is well again: a device that computes and fails in turn is not started each minute.
  void succeed(gpu_place& at) const {
    if (at.pause == duration{} || options.now() < at.retry_at + at.pause) return;
    at.pause = duration{};
    at.said.clear();
    alert(at, "the GPU's worker works again");
  }

  void refuse_store(gpu_place& at, error const& why) const {
    at.is_store_refused = true;
    if (!std::exchange(at.is_refusal_said, true)) alert(at, "it gets no work until another store fits it: " + why.message);
  }

  void start_workers() {
    for (auto& one : places) {
      if (one.worker != nullptr || one.is_given_up || options.now() < one.retry_at) continue;
      start(one);
    }
  }

  void start(gpu_place& at) {
    if (!at.parked->is_gone()) {
      return say(at, "its worker's process " + std::to_string(at.parked->process()) + " was killed and is still there: none is started");
    }
    ++counts.worker_starts;
    auto started = worker_process::start(at.options, at.parked);
    if (started) {
      at.worker = std::move(*started);
    } else if (started.error().code == errc::exhausted) {
      put_off(at, started.error());
    } else {
      fail(at, started.error());
    }
  }

  std::vector<gpu_place*> at_work() {
    std::vector<gpu_place*> made;
    for (auto& one : places) {
      if (one.worker != nullptr) made.push_back(&one);
    }
    return made;
  }

  // Those who can take rows of this store.
  std::vector<gpu_place*> for_rows() {
    auto made = at_work();
    std::erase_if(made, [](gpu_place const* one) { return one->is_store_refused; });
    return made;
  }

  // False: the worker is gone, or the job is not for it.
  bool begin(gpu_place& at, flat_plan const& flat, std::vector<row_request> const& all, feature_table const& table) {
    if (!at.has_store) {
      flat_store_columns const columns{*set, plan, *store};
      auto const kept = at.worker->keep(columns.view());
      if (!kept && kept.error().code == errc::exhausted) refuse_store(at, kept.error());
      if (!kept) return put_back(at, kept.error());
      at.has_store = true;
      at.is_refusal_said = false;
    }
    auto const requests = chosen(all, at.rows);
    auto const results = results_of(table);
    device_job job;
    job.plan = flat;
    job.requests = requests.data();
    job.rows = requests.size();
    job.results = flat_list<flat_result>{results.data(), static_cast<std::uint32_t>(results.size())};
    auto const begun = at.worker->begin(job);
    return begun || put_back(at, begun.error());
  }

  // What is too large for a device is no fault of it.
  bool put_back(gpu_place& at, error const& why) {
    if (why.code != errc::exhausted) fail(at, why);
    return false;
  }

  // One try of all workers; the rows that nobody has computed.
  row_numbers by_gpus(std::vector<row_request> const& all, row_numbers const& wanted, feature_table& table) {
    auto const workers = for_rows();
    all_heard const at_the_end{workers};
    for (auto* one : workers) one->rows.clear();
    for (auto const row : wanted) workers[spread_bits(all[row].begin) % workers.size()]->rows.push_back(row);
    row_numbers left;
    auto const leave = [&](gpu_place const& at) { left.insert(left.end(), at.rows.begin(), at.rows.end()); };
    flat_plan_arrays const arrays{*set, plan, *store};
    std::vector<gpu_place*> begun;
    for (auto* one : workers) {
      if (one->rows.empty()) continue;
      if (begin(*one, arrays.view(), all, table)) {
        begun.push_back(one);
      } else {
        leave(*one);
      }
    }
    for (auto* one : begun) {
      auto const done = finish(*one, all);
      if (done) {
        scatter(*done, one->rows, table);
        counts.rows_by_gpu += one->rows.size();
        succeed(*one);
      } else {
        put_back(*one, done.error());
        leave(*one);
      }
    }
    return left;
  }

  // What a worker has computed, a sample of it compared with the CPU: a device that lies is as good as broken.
  result<std::vector<flat_result>> finish(gpu_place& at, std::vector<row_request> const& all) const {
    auto done = at.worker->finish();
    if (!done || options.checked_every == 0) return done;
    row_numbers sample;
    std::vector<row_request> requests;
    for (std::size_t row = 0; row < at.rows.size(); row += options.checked_every) {
      sample.push_back(static_cast<std::uint32_t>(row));
      auto const asked = at.rows[row];
      requests.push_back(all[asked]);
    }
    auto const expected = engine_table(requests, one_by_one);
    auto const right = results_of(expected);
    for (std::size_t row = 0; row < sample.size(); ++row) {
      if (same_row(*done, sample[row], right, row)) continue;
      return error{errc::corrupt, "the GPU gives other bits than the CPU in a row that was checked"};
    }
    return done;
  }

  void by_cpu(std::vector<row_request> const& all, row_numbers const& wanted, feature_table& table) {
    auto const requests = chosen(all, wanted);
    auto const part = on_cpu(requests);
    scatter(results_of(part), wanted, table);
  }

  feature_table on_cpu(std::vector<row_request> const& all) {
    counts.rows_by_cpu += all.size();
    return engine_table(all, options.how);
  }

  feature_table engine_table(std::vector<row_request> const& all, parallel const& how) const {
    return features::compute(*set, plan, *store, all.size(), how, [&](std::size_t row) { return all[row]; });
  }

  result<feature_table> compute(std::vector<row_request> const& all) {
    if (all.size() < options.gpu_rows_least || places.empty()) return on_cpu(all);
    start_workers();
    auto table = empty_table(plan, all.size());
    row_numbers left(all.size());
    for (std::size_t row = 0; row < left.size(); ++row) left[row] = static_cast<std::uint32_t>(row);
    // What one GPU leaves, the others try; each try that leaves something for failure has one worker less.
    for (auto before = for_rows().size(); !left.empty() && before > 0;) {
      left = by_gpus(all, left, table);
      auto const now = for_rows().size();
      if (now == before) break;  // refused, not failed: no other would take it
      before = now;
    }
    if (!left.empty()) by_cpu(all, left, table);
    return table;
  }
};

recomputer::recomputer(std::unique_ptr<impl> of) : impl_(std::move(of)) {}
recomputer::~recomputer() = default;
recomputer::recomputer(recomputer&&) noexcept = default;
recomputer& recomputer::operator=(recomputer&&) noexcept = default;

result<recomputer> recomputer::make(feature_set_ptr set, recompute_options options) {
  if (!options.gpus.empty() && !options.now) return error{errc::invalid_argument, "recompute_options: GPUs without a clock ('now')"};
  return recomputer{std::make_unique<impl>(std::move(set), std::move(options))};
}

void recomputer::keep(event_store const& store) {
  impl_->store = &store;
  for (auto& one : impl_->places) one.has_store = one.is_store_refused = false;
}

namespace {

error without_store() {
  return error{errc::invalid_argument, "there is no store to compute from; expected keep() first"};
}

}  // namespace

result<feature_table> recomputer::as_of(timestamp at, timestamp known_at) {
  if (impl_->store == nullptr) return without_store();
  auto requests = requests_as_of(*impl_->store, at, known_at);
  if (!requests) return requests.error();
  return impl_->compute(*requests);
}

result<feature_table> recomputer::at(std::span<feature_moment const> moments_wanted) {
  if (impl_->store == nullptr) return without_store();
  auto requests = requests_at(*impl_->store, moments_wanted);
  if (!requests) return requests.error();
  return impl_->compute(*requests);
}

result<feature_table> recomputer::per_event() {
  if (impl_->store == nullptr) return without_store();
  return impl_->compute(requests_per_event(*impl_->store));
}

void recomputer::look_after() {
  for (auto* one : impl_->at_work()) {
    auto const done = one->worker->heartbeat();
    if (!done) impl_->put_back(*one, done.error());
  }
  impl_->start_workers();
}

recompute_counts recomputer::counts() const {
  return impl_->counts;
}

std::size_t recomputer::workers() const {
  return impl_->at_work().size();
}

}  // namespace atone::features
