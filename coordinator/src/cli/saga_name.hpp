// NAME@VERSION as people type it.
// Thread rules: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/daemon_client.hpp"

namespace atone::cli {

struct saga_name {
  std::string name;
  std::string version;  // empty: the newest

  saga_name() = default;
};
saga_name split_saga_name(std::string_view typed);

// Adds /NAME and ?version=VERSION.
void add_saga_name(target& to, std::string_view typed);

}  // namespace atone::cli
