#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string_view>

#include "failure.hpp"

namespace bench {
namespace {

template <class Number>
Number number_of(std::string const& flag, std::string_view text) {
  Number value{};
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || value < Number{0}) {
    throw failure{flag + " " + std::string{text} + ": expected a number"};
  }
  return value;
}

std::chrono::milliseconds seconds_of(std::string const& flag, std::string_view text) {
  return std::chrono::milliseconds{static_cast<std::int64_t>(number_of<double>(flag, text) * 1000)};
}

std::vector<std::string> parts_of(std::string const& text) {
  std::vector<std::string> parts;
  std::istringstream in{text};
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

using reader = std::function<void(options&, std::string const& flag, std::string const& value)>;

std::map<std::string, reader> const& flags_with_value() {
  static std::map<std::string, reader> const known{
      {"--json", [](options& to, auto const&, auto const& value) { to.json_file = value; }},
      {"--seconds", [](options& to, auto const& flag, auto const& value) { to.window = seconds_of(flag, value); }},
      {"--warm-up", [](options& to, auto const& flag, auto const& value) { to.warm_up = seconds_of(flag, value); }},
      {"--for", [](options& to, auto const& flag, auto const& value) { to.overload = seconds_of(flag, value); }},
      {"--only", [](options& to, auto const&, auto const& value) { to.only = parts_of(value); }},
      {"--in-flight", [](options& to, auto const& flag, auto const& value) { to.in_flight = number_of<std::uint32_t>(flag, value); }},
      {"--rate", [](options& to, auto const& flag, auto const& value) { to.rate = number_of<double>(flag, value); }},
      {"--open-share", [](options& to, auto const& flag, auto const& value) { to.open_share = number_of<double>(flag, value); }},
      {"--handler-threads",
       [](options& to, auto const& flag, auto const& value) { to.handler_threads = number_of<std::uint32_t>(flag, value); }},
      {"--store", [](options& to, auto const&, auto const& value) { to.store = value; }},
      {"--count", [](options& to, auto const& flag, auto const& value) { to.count = number_of<std::uint64_t>(flag, value); }},
      {"--rows", [](options& to, auto const& flag, auto const& value) { to.rows = number_of<std::uint64_t>(flag, value); }},
      {"--folder", [](options& to, auto const&, auto const& value) { to.folder = value; }},
      {"--atoned", [](options& to, auto const&, auto const& value) { to.daemon_program = value; }},
      {"--npm", [](options& to, auto const&, auto const& value) { to.npm = value; }},
      {"--peers", [](options& to, auto const&, auto const& value) { to.peers_folder = value; }},
      {"--seed", [](options& to, auto const& flag, auto const& value) { to.seed = number_of<std::uint64_t>(flag, value); }},
  };
  return known;
}

std::map<std::string, bool options::*> const& switches() {
  static std::map<std::string, bool options::*> const known{
      {"--daemon", &options::with_daemon}, {"--keys", &options::keys}, {"--unix-socket", &options::unix_socket}};
  return known;
}

void check(options const& of) {
  if (of.window.count() == 0) throw failure{"--seconds: expected more than 0"};
  if (of.in_flight == 0U) throw failure{"--in-flight: expected at least 1"};
  if (!of.store.empty() && of.store != "postgresql" && of.store != "sqlite") throw failure{"--store: expected postgresql or sqlite"};
}

}  // namespace

bool options::wants(std::string const& which) const {
  return only.empty() || std::find(only.begin(), only.end(), which) != only.end();
}

options read_options(int count, char const* const* words) {
  options made;
  auto const programs = std::filesystem::absolute(words[0]).parent_path();
  made.daemon_program = (programs / "atoned").string();
  made.peers_folder = (programs.parent_path() / "peers").string();
  if (count > 1) made.name = words[1];
  for (int at = 2; at < count; ++at) {
    std::string const flag{words[at]};
    if (auto const found = switches().find(flag); found != switches().end()) {
      made.*found->second = true;
      continue;
    }
    auto const found = flags_with_value().find(flag);
    if (found == flags_with_value().end()) throw failure{flag + ": there is no such flag\n" + usage_text()};
    if (++at == count) throw failure{flag + ": expected a value"};
    found->second(made, flag, words[at]);
  }
  check(made);
  return made;
}

std::string usage_text() {
  return R"(usage: atone_bench NAME [FLAG…]
  throughput    sagas a second, latencies, CPU, commits and log bytes a saga; the cases (--only) are http_ok, http_refused,
                http_single, http_thousand, http_open, embedded_postgresql, embedded_sqlite and, with --daemon, daemon_ok, daemon_single
  store-limit   the same rows pushed through the journal port, without an engine
  recovery      kill -9 with --count open sagas, and the time until they go on
  memory        resident memory while --count sagas run through
  waiting       --count sagas that wait an hour: memory, and what others notice when a tenth as many wake up in one second
  growth        throughput on an empty store and on one with --rows finished sagas
  overload      twice the closed loop's rate of starts for --for seconds, through atoned, and how soon it is itself again
  retention     latencies beside a store with --rows finished sagas that are kept, and while they are deleted
  peers         the same sagas through Restate and DBOS, which npm installs first, and the ratio to atoned in the same run; --only names
                restate, dbos, embedded
  stress        ten times --in-flight (256) for --for seconds, with random delays before participants and database; audited, and watched
flags
  --json FILE          figures as JSON           --seconds N          measured time of a case (5)
  --only CASE,…        these cases only          --warm-up N          seconds before it (1)
  --in-flight N        instead of the case's     --rate N             sagas a second of the open loop
  --open-share X       rate as a share of http_ok's (0.6)
  --daemon             through atoned too        --keys               each saga with a business key
  --handler-threads N  of local handlers (1)     --unix-socket        to PostgreSQL, instead of TCP
  --store NAME         postgresql or sqlite      --folder DIR         databases lie there (/var/tmp)
  --count N            sagas                     --rows N             finished sagas (1000000)
  --atoned FILE        the daemon's program      --seed N             of the arrivals (1)
  --for N              seconds of overload and stress (60)
  --npm PROGRAM        installs the peers (npm)  --peers DIR          their workers (build/release/peers)
)";
}

}  // namespace bench
