#include "daemon/feature_sets.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace atone::daemon {
namespace {

using features::feature_service;
using features::feature_service_options;

result<std::vector<std::string>> set_files(std::string const& folder) {
  std::error_code why;
  std::vector<std::string> made;
  for (auto one = std::filesystem::directory_iterator{folder, why}; !why && one != std::filesystem::directory_iterator{};
       one.increment(why)) {
    if (one->path().extension() == ".yaml" || one->path().extension() == ".yml") made.push_back(one->path().string());
  }
  if (why) return error{errc::unavailable, "features: folder " + folder + " can't be read: " + why.message()};
  if (made.empty()) return error{errc::invalid_argument, "features: found no set in " + folder + ", expected files *.yaml"};
  std::sort(made.begin(), made.end());
  return made;
}

result<features::feature_set_ptr> read_set(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return error{errc::unavailable, path + ": can't be read"};
  auto const read = features::load_feature_set(std::string{std::istreambuf_iterator<char>{file}, {}});
  if (read.ok()) return read.set;
  std::string said;
  for (auto const& one : read.diagnostics) said += (said.empty() ? "" : "\n") + format(one, path);
  return error{errc::invalid_argument, said};
}

// As it is installed: programs in one folder, the plug-in and its worker in the library folder beside it.
std::string beside_this_program(char const* name) {
  std::error_code why;
  auto const program = std::filesystem::read_symlink("/proc/self/exe", why);
  return (program.parent_path() / "../" ATONE_LIBRARY_FOLDER "/atone" / name).lexically_normal().string();
}

// Before the first large batch: until then nobody would know that a device was asked for in vain.
result<void> check_gpu_parts() {
  for (auto const* name : {features::gpu_worker_name, features::gpu_plugin_name}) {
    auto const path = beside_this_program(name);
    std::error_code why;
    if (std::filesystem::exists(path, why)) continue;
    return error{errc::unsupported, "feature-gpus: found no " + path + "; expected the GPU plug-in and its worker there (built with CUDA)"};
  }
  return {};
}

feature_service_options service_options(feature_sets_options const& with, std::string const& set) {
  feature_service_options made;
  made.folder = with.folder + "/data/" + set;
  made.now = with.now;
  made.alert = [alert = with.alert, set](std::string const& words) { alert(set, words); };
  for (auto const device : with.gpus) {
    features::gpu_worker_options worker;
    worker.program = beside_this_program(features::gpu_worker_name);
    worker.gpu.plugin = beside_this_program(features::gpu_plugin_name);
    worker.gpu.device = device;
    made.recompute.gpus.push_back(worker);
  }
  return made;
}

}  // namespace

result<feature_services> open_feature_sets(feature_sets_options const& with) {
  auto const files = set_files(with.folder);
  if (!files) return files.error();
  if (!with.gpus.empty()) {
    if (auto there = check_gpu_parts(); !there) return there.error();
  }
  feature_services made;
  for (auto const& path : *files) {
    auto const set = read_set(path);
    if (!set) return set.error();
    auto const& name = (*set)->name;
    if (made.contains(name))
      return error{errc::invalid_argument, path + ": feature set '" + name + "' stands in another file of the folder too"};
    auto service = feature_service::open(*set, service_options(with, name));
    if (!service) return error{service.error().code, "features '" + name + "': " + service.error().message};
    made.emplace(name, *std::move(service));
  }
  return made;
}

}  // namespace atone::daemon
