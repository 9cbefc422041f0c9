#include "daemon/config_file.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include <atone/load.hpp>

namespace atone::daemon {
namespace {

constexpr std::array<std::string_view, 20> scalar_keys{"store",         "listen",    "node",          "token_file", "insecure",
                                                       "callback_base", "token_key", "open_max",      "grace",      "handler_threads",
                                                       "no_migrate",    "log_level", "token",         "advertise",  "lease",
                                                       "node_ca",       "retention", "key_retention", "features",   "feature_gpus"};
constexpr std::array<std::string_view, 3> tls_keys{"certificate", "key", "ca"};

error wrong(std::string const& path, std::string const& key, std::string const& what) {
  return error{errc::invalid_argument, path + ": " + key + ": " + what};
}

std::string flag_of(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

// A text, number or truth value as the word a flag would take.
result<std::string> word(json::value const& of, std::string const& path, std::string const& key) {
  switch (of.type()) {
    case json::kind::string: return of.as_string();
    case json::kind::number:
    case json::kind::boolean: return std::string{of.raw()};
    default: return wrong(path, key, "found " + std::string{json::name(of.type())} + ", expected one value");
  }
}

template <std::size_t N>
std::string listed(std::array<std::string_view, N> const& keys) {
  std::string text;
  for (auto const key : keys) text += (text.empty() ? "" : ", ") + std::string{key};
  return text;
}

result<void> read_map(json::value const& of, std::string const& path, std::string const& key, file_settings& into) {
  if (of.type() != json::kind::object) return wrong(path, key, "found " + std::string{json::name(of.type())} + ", expected a map");
  for (auto const& [name, value] : of.members()) {
    bool const known = key == "services" || std::find(tls_keys.begin(), tls_keys.end(), name) != tls_keys.end();
    if (!known) return wrong(path, key + "." + name, "unknown key; expected " + listed(tls_keys));
    auto text = word(value, path, key + "." + name);
    if (!text) return text.error();
    if (key == "services") {
      into.emplace_back("service", name + "=" + *text);
    } else {
      into.emplace_back("tls-" + name, std::move(*text));
    }
  }
  return {};
}

}  // namespace

result<file_settings> read_config(std::string_view yaml, std::string const& path) {
  auto const read = read_yaml(yaml);
  if (!read) return error{errc::invalid_argument, path + ":" + read.error().message};
  file_settings made;
  if (read->is_null()) return made;  // an empty file
  if (read->type() != json::kind::object) return wrong(path, "the document", "expected a map of settings");
  for (auto const& [key, value] : read->members()) {
    if (key == "services" || key == "tls") {
      if (auto done = read_map(value, path, key, made); !done) return done.error();
      continue;
    }
    if (std::find(scalar_keys.begin(), scalar_keys.end(), key) == scalar_keys.end()) {
      return wrong(path, key, "unknown key; expected services, tls, " + listed(scalar_keys));
    }
    auto text = word(value, path, key);
    if (!text) return text.error();
    made.emplace_back(flag_of(key), std::move(*text));
  }
  return made;
}

result<file_settings> read_config_file(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return error{errc::invalid_argument, "configuration file " + path + " can't be read"};
  std::ostringstream text;
  text << file.rdbuf();
  return read_config(text.str(), path);
}

}  // namespace atone::daemon
