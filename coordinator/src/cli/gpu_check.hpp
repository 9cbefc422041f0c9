// What `atone doctor` says of GPUs.
#pragma once

#include <string>

#include "cli/finding.hpp"

namespace atone::cli {

// The plug-in where an installation or a build folder has it, beside this program; empty: it has none.
std::string find_gpu_plugin();

// Plug-in, driver, devices, and whether each of them gives the bits of the CPU. An empty path: there is no plug-in.
void look_at_gpus(std::string const& plugin, findings& out);

}  // namespace atone::cli
