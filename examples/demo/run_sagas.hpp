// Part two of the demo: all purchases through the daemon, with the feature service stopped for a while and the daemon killed
// half-way.
#pragma once

#include <vector>

#include <atone/result.hpp>

#include "cdnow.hpp"
#include "demo_options.hpp"
#include "show.hpp"
#include "stage.hpp"
#include "tally.hpp"

namespace demo {

// The saga's input for one purchase, and the key it is started under.
work_item work_for(purchase const& of);

// Returns when every saga has ended or is parked. Errors: the daemon refused, or did not come back.
atone::result<load_figures> run_sagas(stage& on, demo_options const& options, std::vector<purchase> const& purchases, tally& count,
                                      progress_line& line);

}  // namespace demo
