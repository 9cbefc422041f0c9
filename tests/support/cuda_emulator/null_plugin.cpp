// A plug-in that has nothing to give.
extern "C" void const* atone_features_device_v1() {
  return nullptr;
}
