// Runs graphviz's `dot`, where it is installed.
// Thread rules: blocks until it has ended.
#pragma once

#include <string>
#include <string_view>

#include <atone/result.hpp>

namespace atone::cli {

// `format` as dot names it: "svg", "png". Errors: unsupported when dot is not installed, internal when it fails.
result<std::string> run_graphviz(std::string_view dot_text, std::string const& format);

}  // namespace atone::cli
