// `atone drill PLAN`: the drill of coordinator/src/drill as a command.
// Thread rules: one thread, that of main().
#pragma once

#include "cli/command.hpp"

namespace atone::cli {

// Exit status 0 passed, 1 violated, 2 not checkable or not carried out; a plan with mistakes is 2 as well.
exit_code run_drill(arguments const& typed, surroundings const& with);

}  // namespace atone::cli
