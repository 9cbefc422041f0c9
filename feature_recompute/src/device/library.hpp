// The plug-in as a loaded library. It is never unloaded: a driver that has been started does not stand that well.
#pragma once

#include <string>

#include <atone/result.hpp>

#include "device/interface.hpp"

namespace atone::features {

// Errors: unavailable (no such file, or it can't be loaded), unsupported (it is no plug-in of this version).
result<device_interface const*> load_device_plugin(std::string const& path);

}  // namespace atone::features
