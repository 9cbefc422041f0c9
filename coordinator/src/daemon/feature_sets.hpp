// The feature services of a daemon: one for each feature set of a folder, FOLDER/*.yaml, with its events and versions in FOLDER/data/SET.
// Thread rules: a function, called at the start.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <atone/feature_step.hpp>

namespace atone::daemon {

struct feature_sets_options {
  std::string folder;
  std::vector<int> gpus;  // devices; each is used by a worker process of its own, found beside this program
  std::function<timestamp()> now;
  std::function<void(std::string const& set, std::string const& words)> alert;

  feature_sets_options() = default;
};

// Errors: invalid_argument (no set there, one that does not load, two of one name), unsupported (GPUs without the plug-in and its worker),
// unavailable (files), and whatever opening a service says.
result<feature_services> open_feature_sets(feature_sets_options const& with);

}  // namespace atone::daemon
