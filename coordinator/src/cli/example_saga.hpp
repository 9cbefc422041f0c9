// What `atone init` writes.
// Thread rules: constants.
#pragma once

#include <string>
#include <string_view>

namespace atone::cli {

// A commented saga under this name; it passes lint, a test holds that.
std::string example_saga(std::string_view name);

}  // namespace atone::cli
