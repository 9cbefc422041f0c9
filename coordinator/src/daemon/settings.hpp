// What atoned is told at its start: flags before environment (ATONE_*) before a YAML file (--config) before defaults.
// Thread rules: plain values.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/http.hpp>
#include <atone/result.hpp>
#include <atone/time.hpp>

#include "api/access.hpp"

namespace atone::daemon {

struct settings {
  std::string store = "sqlite:atone.db";
  std::string node;       // empty: node_name()
  std::string advertise;  // URL for other coordinators on the same store; empty: our own, unless we listen on every address
  duration lease{std::chrono::seconds{2}};
  std::string address = "127.0.0.1";
  std::uint16_t port = 7070;
  std::vector<api::token> tokens;
  std::optional<http::tls_options> tls;
  std::string node_ca;    // whom to trust as another node; empty: tls.ca_file, and without that the system's
  bool insecure = false;  // the open door is meant
  bool migrate = true;
  std::map<std::string, std::string> addresses;  // service -> URL
  std::string callback_base;                     // empty: our own URL, when that is on loopback
  std::string token_key;
  duration retention{};  // 0: finished sagas are kept for ever
  duration key_retention{std::chrono::hours{24 * 30}};
  std::string features;           // folder of feature sets; empty: none are served
  std::vector<int> feature_gpus;  // devices that compute them too
  std::uint32_t open_max = 100'000;
  std::uint32_t handler_threads = 4;
  duration grace{std::chrono::seconds{10}};  // for open requests and answers under way when stopping
  std::string log_level = "info";

  settings() = default;
};

// What the command line came to: settings to run with, or an exit code (help was shown, or the line could not be used).
struct parsed_line {
  std::optional<settings> run;
  int exit_code = 0;

  parsed_line() = default;
};
// Prints help to `out` and mistakes to `err`.
parsed_line parse_line(int count, char const* const* words, std::ostream& out, std::ostream& err);

// ---- what flags are made of ----

// "127.0.0.1:7070", "[::1]:0"; the port may be 0.
result<void> read_listen(std::string_view text, settings& into);
// "NAME:SECRET" or "SECRET" (its name is then "token").
result<api::token> read_token(std::string_view text);
// One token a line; empty lines and those beginning with # are passed over.
result<std::vector<api::token>> read_token_file(std::string const& path);
// "NAME=URL"
result<void> read_service(std::string_view text, settings& into);

// "0" or "0,1": devices, each once.
result<std::vector<int>> read_devices(std::string_view text);

// Refuses a door that is open to the network without token and TLS, unless that is meant.
result<void> check_doors(settings const& of);
// 127.0.0.0/8 or ::1
bool is_loopback(std::string_view address) noexcept;
// What this process is called among the coordinators on its store: as told, else by machine and port, which last over restarts.
std::string node_name(settings const& of);
// "http://127.0.0.1:7070"
std::string own_url(settings const& of, std::uint16_t port);
// Where other coordinators are told to reach us; empty where we listen on every address and were not told which one is ours.
std::string node_address(settings const& of, std::string const& url);
// How long a saga's driver is looked for: whoever takes over waits for a lease first.
duration driver_patience(settings const& of) noexcept;
// As a client of other nodes: whom we trust, and our own certificate for those that ask for one.
http::tls_options node_tls(settings const& of);

}  // namespace atone::daemon
