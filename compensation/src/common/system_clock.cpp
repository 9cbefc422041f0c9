// The clock of the embedded stores, whose database has none of its own: the only file of this folder that reads the time.
#include "common/system_clock.hpp"

namespace atone {

timestamp system_time() {
  return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
}

}  // namespace atone
