// A plug-in as another version would have it: structs of another layout.
#include "device/interface.hpp"

extern "C" atone::features::device_interface const* atone_features_device_v1() {
  static atone::features::device_interface made;
  made.layout = atone::features::device_layout() + 1;
  return &made;
}
