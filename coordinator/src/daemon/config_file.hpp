// The configuration file of atoned: YAML, the lowest of the three (flags before environment before file).
// Thread rules: pure functions but for reading the file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/result.hpp>

namespace atone::daemon {

// What the file says, as (long flag without dashes, text) in the order of the file: {"listen", "127.0.0.1:7070"} …
// `services` gives one "service" "NAME=URL" each; `tls: {certificate, key, ca}` gives "tls-certificate" …; true and false stay words.
using file_settings = std::vector<std::pair<std::string, std::string>>;

// Mistakes name the file, the key, what was found and what was expected.
result<file_settings> read_config(std::string_view yaml, std::string const& path);
result<file_settings> read_config_file(std::string const& path);

}  // namespace atone::daemon
