// A plug-in that has nothing to give.
#include "device/interface.hpp"

extern "C" atone::features::device_interface const* atone_features_device_v1() {
  return nullptr;
}
