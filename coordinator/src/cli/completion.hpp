// Shell completion, made of the table of commands.
// Thread rules: pure.
#pragma once

#include <string>
#include <string_view>

namespace atone::cli {

// "bash", "zsh" or "fish"; empty for any other.
std::string completion_script(std::string_view shell);

}  // namespace atone::cli
