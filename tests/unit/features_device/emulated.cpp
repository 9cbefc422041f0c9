#include "compare.hpp"

namespace atone::features_test {

std::string emulated_plugin() {
  return ATONE_EMULATED_PLUGIN;
}

}  // namespace atone::features_test
