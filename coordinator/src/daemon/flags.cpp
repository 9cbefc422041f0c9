// The command line of atoned. CLI11 is seen here only.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ostream>

#include <CLI/CLI.hpp>

#include "daemon/config_file.hpp"
#include "daemon/settings.hpp"

namespace atone::daemon {
namespace {

constexpr duration lease_min = std::chrono::milliseconds{500};
constexpr duration lease_max = std::chrono::hours{1};
constexpr duration retention_min = std::chrono::seconds{1};

// Texts as typed; turned into settings once all of them are there.
struct typed_line {
  std::string config;
  std::string listen;
  std::vector<std::string> tokens;
  std::string token_file;
  std::vector<std::string> services;
  http::tls_options tls;
  std::string grace;
  std::string lease;
  std::string retention;
  std::string key_retention;
  std::string feature_gpus;
  bool no_migrate = false;

  typed_line() = default;
};

void add_flags(CLI::App& app, settings& made, typed_line& typed) {
  app.add_option("--config", typed.config, "YAML file with settings; flags and environment go before it")->envname("ATONE_CONFIG");
  app.add_option("--store", made.store, "sqlite:PATH, postgresql://… or memory:")->envname("ATONE_STORE")->capture_default_str();
  app.add_option("--listen", typed.listen, "ADDRESS:PORT of the API; port 0: any free one")
      ->envname("ATONE_LISTEN")
      ->default_str("127.0.0.1:7070");
  app.add_option("--node", made.node,
                 "Name of this process among those on the same store, the same over restarts; default: machine and port")
      ->envname("ATONE_NODE");
  app.add_option("--advertise", made.advertise,
                 "URL at which other processes on the same store reach this one; default: its own, none on 0.0.0.0 and [::]")
      ->envname("ATONE_ADVERTISE");
  app.add_option("--node-ca", made.node_ca,
                 "Whom to trust as another process on the same store, PEM; default: --tls-ca, and without that the system's")
      ->envname("ATONE_NODE_CA");
  app.add_option("--lease", typed.lease, "How long without a sign of life until other processes take over its sagas (PostgreSQL)")
      ->envname("ATONE_LEASE")
      ->default_str("2s");
  app.add_option("--token", typed.tokens, "NAME:SECRET that callers show as bearer token; repeatable")->envname("ATONE_TOKEN");
  app.add_option("--token-file", typed.token_file, "File with one NAME:SECRET a line")->envname("ATONE_TOKEN_FILE");
  app.add_option("--tls-certificate", typed.tls.certificate_file, "Certificate chain, PEM")->envname("ATONE_TLS_CERTIFICATE");
  app.add_option("--tls-key", typed.tls.key_file, "Private key, PEM")->envname("ATONE_TLS_KEY");
  app.add_option("--tls-ca", typed.tls.ca_file, "Clients must show a certificate from it, PEM")->envname("ATONE_TLS_CA");
  app.add_flag("--insecure", made.insecure, "Listen beyond loopback without token or TLS")->envname("ATONE_INSECURE");
  app.add_option("--service", typed.services, "NAME=URL instead of the definitions' address; repeatable")->envname("ATONE_SERVICE");
  app.add_option("--callback-base", made.callback_base, "URL participants report to")->envname("ATONE_CALLBACK_BASE");
  app.add_option("--token-key", made.token_key,
                 "Key of callback tokens; without it PostgreSQL's is used, or on other stores they die with the process")
      ->envname("ATONE_TOKEN_KEY");
  app.add_option("--open-max", made.open_max, "Sagas under way; above it starts are refused")
      ->envname("ATONE_OPEN_MAX")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--handler-threads", made.handler_threads, "Threads of local handlers")
      ->envname("ATONE_HANDLER_THREADS")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--retention", typed.retention,
                 "How long finished sagas are kept, from their end on; 0s: for ever. Parked ones and those under way are never deleted")
      ->envname("ATONE_RETENTION")
      ->default_str("0s");
  app.add_option("--key-retention", typed.key_retention,
                 "How long the business key of a deleted saga is known, from its end on; not shorter than --retention")
      ->envname("ATONE_KEY_RETENTION")
      ->default_str("30d");
  app.add_option("--features", made.features,
                 "Folder of feature sets (*.yaml) that are recomputed and served here; their data in its folder data")
      ->envname("ATONE_FEATURES");
  app.add_option("--feature-gpus", typed.feature_gpus, "Devices that compute features too, as 0,1; default: none")
      ->envname("ATONE_FEATURE_GPUS");
  app.add_flag("--no-migrate", typed.no_migrate, "Refuse to start on tables of another version")->envname("ATONE_NO_MIGRATE");
  app.add_option("--grace", typed.grace, "For open requests when stopping")->envname("ATONE_GRACE")->default_str("10s");
  app.add_option("--log-level", made.log_level, "What is logged")
      ->envname("ATONE_LOG_LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
}

result<void> apply_tokens(typed_line const& typed, settings& into) {
  for (auto const& text : typed.tokens) {
    auto one = read_token(text);
    if (!one) return one.error();
    into.tokens.push_back(*std::move(one));
  }
  if (typed.token_file.empty()) return {};
  auto from_file = read_token_file(typed.token_file);
  if (!from_file) return from_file.error();
  into.tokens.insert(into.tokens.end(), from_file->begin(), from_file->end());
  return {};
}

result<void> apply_node(typed_line const& typed, settings& into) {
  if (!into.advertise.empty()) {
    if (auto const read = http::parse_origin(into.advertise); !read) return error{read.error().code, "advertise: " + read.error().message};
  }
  if (typed.lease.empty()) return {};
  auto const lease = parse_duration(typed.lease);
  if (!lease) return error{errc::invalid_argument, "lease: " + lease.error().message};
  if (*lease < lease_min || *lease > lease_max) {
    return error{errc::invalid_argument, "lease: found " + typed.lease + ", expected 500ms to 1h"};
  }
  into.lease = *lease;
  return {};
}

// A key that was not spoken of lasts as long as its saga at least.
result<void> apply_retention(typed_line const& typed, settings& into) {
  if (!typed.retention.empty()) {
    auto const kept = parse_duration(typed.retention);
    if (!kept) return error{errc::invalid_argument, "retention: " + kept.error().message};
    if (*kept != duration{0} && *kept < retention_min) {
      return error{errc::invalid_argument, "retention: found " + typed.retention + ", expected 0s (for ever), or 1s and more"};
    }
    into.retention = *kept;
  }
  into.key_retention = std::max(into.key_retention, into.retention);
  if (typed.key_retention.empty()) return {};
  auto const kept = parse_duration(typed.key_retention);
  if (!kept) return error{errc::invalid_argument, "key-retention: " + kept.error().message};
  if (*kept < into.retention) {
    return error{errc::invalid_argument, "key-retention: found " + typed.key_retention + ", expected no less than --retention, which is " +
                                             format_duration(into.retention)};
  }
  into.key_retention = *kept;
  return {};
}

result<void> apply(typed_line const& typed, settings& into) {
  into.migrate = !typed.no_migrate;
  if (!typed.listen.empty()) {
    if (auto done = read_listen(typed.listen, into); !done) return done;
  }
  if (auto done = apply_tokens(typed, into); !done) return done;
  for (auto const& text : typed.services) {
    if (auto done = read_service(text, into); !done) return done;
  }
  if (!typed.grace.empty()) {
    auto const grace = parse_duration(typed.grace);
    if (!grace) return error{errc::invalid_argument, "grace: " + grace.error().message};
    into.grace = *grace;
  }
  if (auto done = apply_node(typed, into); !done) return done;
  if (auto done = apply_retention(typed, into); !done) return done;
  if (!typed.feature_gpus.empty()) {
    auto devices = read_devices(typed.feature_gpus);
    if (!devices) return devices.error();
    if (into.features.empty()) return error{errc::invalid_argument, "feature-gpus: needs --features"};
    into.feature_gpus = *std::move(devices);
  }
  if (typed.tls.certificate_file.empty() != typed.tls.key_file.empty()) {
    return error{errc::invalid_argument, "TLS needs both --tls-certificate and --tls-key"};
  }
  if (!typed.tls.certificate_file.empty()) into.tls = typed.tls;
  return check_doors(into);
}

// Where the configuration file is: looked for before the flags are parsed, since it stands behind them.
std::string config_path(int count, char const* const* words) {
  constexpr std::string_view flag = "--config";
  for (int at = 1; at < count; ++at) {
    std::string_view const word = words[at];
    if (word == flag && at + 1 < count) return words[at + 1];
    if (word.starts_with(flag) && word.size() > flag.size() && word[flag.size()] == '=') return std::string{word.substr(flag.size() + 1)};
  }
  auto const* const from_environment = std::getenv("ATONE_CONFIG");
  return from_environment == nullptr ? std::string{} : std::string{from_environment};
}

bool is_given(std::string const& name, int count, char const* const* words) {
  auto const flag = "--" + name;
  for (int at = 1; at < count; ++at) {
    std::string_view const word = words[at];
    if (word == flag || word.starts_with(flag + "=")) return true;
  }
  auto variable = "ATONE_" + name;
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char letter) { return letter == '-' ? '_' : static_cast<char>(std::toupper(letter)); });
  return std::getenv(variable.c_str()) != nullptr;
}

// The line as typed, with what flags and environment leave open from the file put before it.
result<std::vector<std::string>> with_config(int count, char const* const* words) {
  std::vector<std::string> line;
  if (auto const path = config_path(count, words); !path.empty()) {
    auto const file = read_config_file(path);
    if (!file) return file.error();
    for (auto const& [name, text] : *file) {
      if (!is_given(name, count, words)) line.push_back("--" + name + "=" + text);
    }
  }
  line.insert(line.end(), words + 1, words + count);
  std::reverse(line.begin(), line.end());  // as CLI11 takes a vector
  return line;
}

}  // namespace

parsed_line parse_line(int count, char const* const* words, std::ostream& out, std::ostream& err) {
  settings made;
  typed_line typed;
  parsed_line outcome;
  CLI::App app{"atoned: drives sagas and answers the API. Every flag has an environment variable.", "atoned"};
  app.set_version_flag("--version", ATONE_VERSION);
  add_flags(app, made, typed);
  auto line = with_config(count, words);
  if (!line) {
    err << "atoned: " << line.error().message << '\n';
    outcome.exit_code = 2;
    return outcome;
  }
  try {
    app.parse(*std::move(line));
  } catch (CLI::ParseError const& refused) {
    outcome.exit_code = app.exit(refused, out, err) == 0 ? 0 : 2;
    return outcome;
  }
  if (auto done = apply(typed, made); !done) {
    err << "atoned: " << done.error().message << '\n';
    outcome.exit_code = 2;
    return outcome;
  }
  outcome.run = std::move(made);
  return outcome;
}

}  // namespace atone::daemon
