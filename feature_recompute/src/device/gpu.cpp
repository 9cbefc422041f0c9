#include <atone/features/gpu.hpp>

#include "device/flatten.hpp"
#include "device/library.hpp"
#include "engine/requests.hpp"

namespace atone::features {
namespace {

error error_of(device_status status, device_words const& why) {
  switch (status) {
    case device_status::refused: return error{errc::exhausted, std::string{"the GPU refuses this: "} + why.text};
    case device_status::no_device: return error{errc::unavailable, std::string{"there is no GPU: "} + why.text};
    case device_status::unfit: return error{errc::unsupported, why.text};
    default: return error{errc::unavailable, std::string{"the GPU failed, this process can't use it any more: "} + why.text};
  }
}

// The kernels use about 140 registers a thread; a block has 65,536.
constexpr std::uint32_t block_threads_max = 256;

result<device_tuning> tuning_of(gpu_options const& from) {
  if (from.block_threads == 0 || from.block_threads % 32 != 0 || from.block_threads > block_threads_max) {
    return error{errc::invalid_argument, "block_threads: found " + std::to_string(from.block_threads) +
                                             "; expected a multiple of 32, at most " + std::to_string(block_threads_max)};
  }
  if (from.warp_rows < from.thread_rows) {
    return error{errc::invalid_argument, "warp_rows: found " + std::to_string(from.warp_rows) + ", less than thread_rows"};
  }
  device_tuning made;
  made.thread_rows = from.thread_rows;
  made.warp_rows = from.warp_rows;
  made.block_threads = from.block_threads;
  made.scratch_bytes = from.scratch_bytes;
  made.result_bytes = from.result_bytes;
  return made;
}

gpu_device device_of(int number, device_facts const& from) {
  gpu_device made;
  made.number = number;
  made.name = from.name;
  made.major = from.major;
  made.minor = from.minor;
  made.processors = from.processors;
  made.memory = from.memory;
  made.memory_free = from.memory_free;
  return made;
}

}  // namespace

result<gpu_report> look_for_gpus(std::string const& plugin) {
  auto const loaded = load_device_plugin(plugin);
  if (!loaded) return loaded.error();
  auto const& library = **loaded;
  gpu_report made;
  made.built = library.built;
  device_driver found;
  device_words why;
  auto const status = library.look(&found, &why);
  made.driver = found.driver;
  made.runtime = found.runtime;
  if (status != device_status::done) {
    made.no_device = why.text;
    return made;
  }
  for (int number = 0; number < found.devices; ++number) {
    device_facts facts;
    auto const described = library.describe(number, &facts, &why);
    if (described != device_status::done) return error_of(described, why);
    made.devices.push_back(device_of(number, facts));
  }
  return made;
}

struct gpu_engine::impl {
  feature_set_ptr set;
  feature_plan plan;
  device_interface const* library = nullptr;
  device_session* session = nullptr;
  event_store const* store = nullptr;

  explicit impl(feature_set_ptr of) : set(std::move(of)), plan(compile(*set)) {}
  ~impl() {
    if (session != nullptr) library->close(session);
  }
  impl(impl const&) = delete;
  impl& operator=(impl const&) = delete;

  result<feature_table> compute(std::vector<row_request> const& requests) {
    auto table = empty_table(plan, requests.size());
    flat_plan_arrays const arrays{*set, plan, *store};
    std::vector<flat_result> results;
    for (auto const& column : table.columns) results.push_back(flat_result{column.cells.get(), column.states.get(), column.lanes});
    device_job job;
    job.plan = arrays.view();
    job.requests = requests.data();
    job.rows = requests.size();
    job.results = flat_list<flat_result>{results.data(), static_cast<std::uint32_t>(results.size())};
    device_words why;
    auto const status = library->compute(session, &job, &why);
    if (status != device_status::done) return error_of(status, why);
    return table;
  }
};

gpu_engine::gpu_engine(std::unique_ptr<impl> of) : impl_(std::move(of)) {}
gpu_engine::~gpu_engine() = default;
gpu_engine::gpu_engine(gpu_engine&&) noexcept = default;
gpu_engine& gpu_engine::operator=(gpu_engine&&) noexcept = default;

result<gpu_engine> gpu_engine::open(feature_set_ptr set, gpu_options const& options) {
  auto const tuning = tuning_of(options);
  if (!tuning) return tuning.error();
  auto const loaded = load_device_plugin(options.plugin);
  if (!loaded) return loaded.error();
  auto made = std::make_unique<impl>(std::move(set));
  made->library = *loaded;
  if (auto const what = not_computed(*made->set, made->library->computes); !what.empty()) {
    return error{errc::unsupported, what + " is not computed by this plug-in (" + made->library->built + ")"};
  }
  device_driver found;
  device_words why;
  auto status = made->library->look(&found, &why);
  if (status == device_status::done) status = made->library->open(options.device, &*tuning, &made->session, &why);
  if (status != device_status::done) return error_of(status, why);
  return gpu_engine{std::move(made)};
}

result<void> gpu_engine::keep(event_store const& store) {
  flat_store_columns const columns{*impl_->set, impl_->plan, store};
  auto const view = columns.view();
  device_words why;
  impl_->store = nullptr;
  auto const status = impl_->library->keep(impl_->session, &view, &why);
  if (status != device_status::done) return error_of(status, why);
  impl_->store = &store;
  return {};
}

namespace {

error without_store() {
  return error{errc::invalid_argument, "no store is kept on the GPU; expected keep() first"};
}

}  // namespace

result<feature_table> gpu_engine::as_of(timestamp at, timestamp known_at) {
  if (impl_->store == nullptr) return without_store();
  auto const requests = requests_as_of(*impl_->store, at, known_at);
  if (!requests) return requests.error();
  return impl_->compute(*requests);
}

result<feature_table> gpu_engine::at(std::span<feature_moment const> moments_wanted) {
  if (impl_->store == nullptr) return without_store();
  auto const requests = requests_at(*impl_->store, moments_wanted);
  if (!requests) return requests.error();
  return impl_->compute(*requests);
}

result<feature_table> gpu_engine::per_event() {
  if (impl_->store == nullptr) return without_store();
  return impl_->compute(requests_per_event(*impl_->store));
}

}  // namespace atone::features
