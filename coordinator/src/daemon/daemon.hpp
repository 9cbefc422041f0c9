// The daemon's life: bind, open the store, drive sagas, answer the API, stop on a signal without losing anything.
// Thread rules: run() once, from the main thread.
#pragma once

#include <functional>
#include <string>

#include <atone/result.hpp>

#include "daemon/log.hpp"
#include "daemon/settings.hpp"

namespace atone::daemon {

// Returns after SIGTERM or SIGINT and everything has been stopped; a second signal cuts the grace short. `listening` is told the
// API's URL once it answers. Errors: the address or the store can't be had.
result<void> run(settings const& with, log& to, std::function<void(std::string const& url)> const& listening);

}  // namespace atone::daemon
