#include "device/library.hpp"

#include <dlfcn.h>

namespace atone::features {
namespace {

error failed_to_load(std::string const& path) {
  auto const* why = dlerror();
  return error{errc::unavailable, "the plug-in '" + path + "' can't be loaded: " + (why == nullptr ? "no reason was given" : why)};
}

}  // namespace

result<device_interface const*> load_device_plugin(std::string const& path) {
  if (path.empty()) return error{errc::unavailable, "there is no plug-in for GPUs (" + std::string{"libatone_features_cuda.so"} + ")"};
  auto* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return failed_to_load(path);
  auto* const symbol = dlsym(library, device_interface_symbol);
  if (symbol == nullptr) {
    return error{errc::unsupported, "'" + path + "' is no plug-in of this version: it has no " + std::string{device_interface_symbol}};
  }
  auto const* const made = reinterpret_cast<device_interface_function>(symbol)();
  if (made == nullptr) return error{errc::unsupported, "the plug-in '" + path + "' has no interface to give"};
  if (made->version != device_interface_version || made->layout != device_layout()) {
    return error{errc::unsupported, "the plug-in '" + path + "' has interface " + std::to_string(made->version) + ", layout " +
                                        std::to_string(made->layout) + "; expected " + std::to_string(device_interface_version) + ", " +
                                        std::to_string(device_layout())};
  }
  return made;
}

}  // namespace atone::features
