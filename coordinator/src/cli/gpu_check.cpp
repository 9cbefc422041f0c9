#include "cli/gpu_check.hpp"

#include <filesystem>
#include <system_error>

#include <atone/features/gpu.hpp>

namespace atone::cli {
namespace {

namespace gpu = features;

std::string version_text(int of) {
  return std::to_string(of / 1000) + "." + std::to_string(of % 1000 / 10);
}

std::string gibibytes(std::uint64_t bytes) {
  auto const tenths = bytes * 10 / (std::uint64_t{1} << 30);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

void compare_bits(std::string const& plugin, gpu::gpu_device const& device, findings& out) {
  gpu::gpu_options options;
  options.plugin = plugin;
  options.device = device.number;
  auto const done = gpu::compare_gpu_with_cpu(options);
  auto const words = done ? "gives the bits of the CPU for every kind of feature" : done.error().message;
  out.emplace_back(done ? verdict::fine : verdict::fault, "gpu " + std::to_string(device.number), words);
}

}  // namespace

std::string find_gpu_plugin() {
  std::error_code none;
  auto const program = std::filesystem::read_symlink("/proc/self/exe", none);
  if (none) return {};
  for (auto const* folder : {"../" ATONE_LIBRARY_FOLDER "/atone", "."}) {
    auto const path = (program.parent_path() / folder / gpu::gpu_plugin_name).lexically_normal();
    if (std::filesystem::exists(path, none)) return path.string();
  }
  return {};
}

void look_at_gpus(std::string const& plugin, findings& out) {
  if (plugin.empty()) {
    std::string words{gpu::gpu_plugin_name};
    words += " is not beside this program: features are computed on the CPU";
    out.emplace_back(verdict::left_out, "gpu plug-in", words);
    return;
  }
  auto const found = gpu::look_for_gpus(plugin);
  if (!found) {
    out.emplace_back(verdict::fault, "gpu plug-in", found.error().message);
    return;
  }
  out.emplace_back(verdict::fine, "gpu plug-in", plugin + ": " + found->built);
  auto const driver = found->driver == 0 ? std::string{"none"} : "knows CUDA " + version_text(found->driver);
  out.emplace_back(found->driver == 0 ? verdict::left_out : verdict::fine, "gpu driver", driver);
  if (!found->no_device.empty()) out.emplace_back(verdict::left_out, "gpu", found->no_device + ": features are computed on the CPU");
  for (auto const& one : found->devices) {
    out.emplace_back(verdict::fine, "gpu " + std::to_string(one.number),
                     one.name + ", compute capability " + std::to_string(one.major) + "." + std::to_string(one.minor) + ", " +
                         std::to_string(one.processors) + " processors, " + gibibytes(one.memory) + ", " + gibibytes(one.memory_free) +
                         " free");
    compare_bits(plugin, one, out);
  }
}

}  // namespace atone::cli
