// The version this program was built as.
// Thread rules: a constant.
#pragma once

#include <string_view>

namespace atone::cli {

inline constexpr std::string_view version = ATONE_VERSION;  // from the project() call

}  // namespace atone::cli
