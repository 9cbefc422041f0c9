// docs/cli.md, made of the table of commands.
// Thread rules: pure.
#pragma once

#include <string>

namespace atone::cli {

std::string reference_page();

}  // namespace atone::cli
