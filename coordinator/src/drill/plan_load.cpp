// load_plan_text: the document as a whole.
#include <algorithm>
#include <array>
#include <charconv>

#include <boost/asio/ip/address.hpp>

#include <atone/json.hpp>
#include <atone/yaml/fields.hpp>
#include <atone/yaml/read_tree.hpp>
#include <atone/yaml/source.hpp>

#include "drill/plan_faults.hpp"
#include "drill/plan_keys.hpp"
#include "drill/variables.hpp"

namespace atone::drill {
namespace {

using namespace yaml;

constexpr std::string_view beginning = "begin with `drill: NAME`";
constexpr std::array<std::string_view, 2> orders{"listed", "drawn"};

std::uint32_t small(std::optional<std::int64_t> const& read, std::int64_t otherwise) {
  return static_cast<std::uint32_t>(read.value_or(otherwise));
}

void read_time(spot const& map, std::string_view key, duration& into, report& out) {
  if (auto const at = field(map, key)) into = read_duration(*at, out).value_or(into);
}

void read_optional_text(spot const& map, std::string_view key, std::string_view expected, std::string& into, report& out) {
  if (auto const at = field(map, key)) into = read_text(*at, expected, out).value_or("");
}

bool looks_like_url(std::string_view text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

std::string read_url(spot const& at, report& out) {
  auto text = read_text(at, "a URL, as in http://127.0.0.1:7070", out).value_or("");
  if (!text.empty() && !looks_like_url(text)) out.mistake(at, "found `" + text + "`; expected a URL, as in http://127.0.0.1:7070");
  while (text.ends_with('/')) text.pop_back();
  return text;
}

// Of a process that speaks no HTTP it is enough that it takes connections.
std::string read_ready(spot const& at, report& out) {
  auto const text = read_text(at, "a URL, as in http://127.0.0.1:7070/ready or tcp://127.0.0.1:5432", out).value_or("");
  return text.starts_with("tcp://") && text.rfind(':') > 5 ? text : read_url(at, out);
}

// "127.0.0.1:7001" or "[::1]:7001", whose address is one.
bool take_apart(std::string_view text, socket_address& into) {
  auto const colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  auto const digits = text.substr(colon + 1);
  auto const* const end = digits.data() + digits.size();
  auto const [stop, failed] = std::from_chars(digits.data(), end, into.port);
  auto address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  boost::system::error_code unknown;
  boost::asio::ip::make_address(address, unknown);
  into.address = address;
  return failed == std::errc{} && stop == end && into.port != 0 && !unknown;
}

socket_address read_address(spot const& map, std::string_view key, report& out) {
  socket_address made;
  auto const at = required_field(map, key, "an address, as in 127.0.0.1:7001", out);
  auto const text = at ? read_text(*at, "an address, as in \"127.0.0.1:7001\"", out) : std::nullopt;
  if (text && !take_apart(*text, made)) {
    out.mistake(*at, "found `" + *text + "`; expected an IP address and a port, as in 127.0.0.1:7001");
  }
  return made;
}

// Each member of the map `key` by its name; `read` fills one from its spot.
template <class Part, class Read>
void read_parts(spot const& root, std::string_view key, std::string const& expected, std::vector<Part>& into, Read read, report& out) {
  auto const at = field(root, key);
  if (!at || !expect_map(*at, expected, out)) return;
  if ((*at)->entries.size() > drill_plan::parts_max) {
    return out.mistake(
        *at, "found " + std::to_string((*at)->entries.size()) + " entries; expected at most " + std::to_string(drill_plan::parts_max));
  }
  for (auto const& member : (*at)->entries) {
    into.emplace_back();
    read(member.key.text, at->child(member.key.text, member.value), into.back());
  }
}

void read_input(spot const& map, load_plan& into, report& out) {
  auto const at = required_field(map, "input", "JSON text, as in '{\"order_id\": {n}}'", out);
  auto const text = at ? read_text(*at, "JSON text in quotes, as in '{\"order_id\": {n}}'", out) : std::nullopt;
  if (!text) return;
  into.input = *text;
  auto const parsed = json::parse(input_of(*text, 1));
  if (!parsed) out.mistake(*at, "with {n} = 1 it is not JSON: " + parsed.error().message);
}

void read_load(spot const& root, drill_plan& into, report& out) {
  auto const at = required_field(root, "load", "a map with `saga` and `input`", out);
  if (!at || !expect_map(*at, "a map with `saga` and `input`", out)) return;
  check_keys(*at, load_keys, out);
  auto& load = into.load;
  if (auto const saga = required_field(*at, "saga", "the name of a published definition", out)) {
    load.saga = read_text(*saga, "the name of a definition", out).value_or("");
  }
  read_optional_text(*at, "definition", "a file", load.definition, out);
  read_input(*at, load, out);
  if (auto const most = field(*at, "in_flight")) load.in_flight = small(read_integer(*most, 1, load_plan::in_flight_max, out), 1);
  if (auto const rate = field(*at, "rate")) load.rate = small(read_integer(*rate, 1, load_plan::rate_max, out), 1);
  read_time(*at, "warm_up", load.warm_up, out);
}

void read_proxies(spot const& root, drill_plan& into, report& out) {
  auto const one = [&](std::string const& name, spot const& at, proxy_plan& made) {
    made.name = name;
    if (!expect_map(at, "a map with `listen` and `to`", out)) return;
    check_keys(at, proxy_keys, out);
    made.listen = read_address(at, "listen", out);
    made.to = read_address(at, "to", out);
  };
  read_parts(root, "proxies", "a map of proxies by name", into.proxies, one, out);
}

bool is_setting(std::string_view word) {
  auto const equals = word.find('=');
  auto const letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  return equals != std::string_view::npos && equals > 0 && std::all_of(word.begin(), word.begin() + static_cast<long>(equals), letter);
}

// Where the shell would end the first command of the line and begin another one; npos: nowhere.
std::size_t end_of_command(std::string_view line) {
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    char const each = line[at];
    if (each == '\\' && quote != '\'') {
      ++at;
    } else if (quote != 0) {
      quote = each == quote ? '\0' : quote;
    } else if (each == '\'' || each == '"') {
      quote = each;
    } else if (std::string_view{"&|;\n"}.find(each) != std::string_view::npos) {
      bool const redirects = at > 0 && (line[at - 1] == '>' || line[at - 1] == '<');  // 2>&1
      if (!redirects || each != '&') return at;
    }
  }
  return std::string_view::npos;
}

// The line takes the place of its shell, so it must be one program: anything after it would never run.
void read_start(spot const& map, process_plan& into, report& out) {
  auto const at = field(map, "start");
  if (!at) return;
  auto text = read_text(*at, "a command line", out).value_or("");
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  into.start = text;
  std::string_view const line = text;
  if (is_setting(line.substr(0, line.find(' ')))) {
    out.mistake(*at, "found `" + std::string{line.substr(0, line.find(' '))} +
                         "` before the program; expected one program: `env VARIABLE=value program`");
  }
  auto const end = end_of_command(line);
  if (end == std::string_view::npos) return;
  auto const sign = line.substr(end, line.substr(end, 2) == "&&" || line.substr(end, 2) == "||" ? 2 : 1);
  out.mistake(*at,
              "found `" + std::string{sign == "\n" ? "a new line" : sign} + "`; expected one program with its arguments, or sh -c '…'");
}

void read_processes(spot const& root, drill_plan& into, report& out) {
  auto const one = [&](std::string const& name, spot const& at, process_plan& made) {
    made.name = name;
    if (!expect_map(at, "a map with `start` or `pid_file`", out)) return;
    check_keys(at, process_keys, out);
    read_start(at, made, out);
    read_optional_text(at, "pid_file", "a file", made.pid_file, out);
    read_optional_text(at, "log", "a file", made.log, out);
    if (auto const url = field(at, "ready")) made.ready = read_ready(*url, out);
    if (made.start.empty() && made.pid_file.empty()) out.mistake(at, "found neither `start` nor `pid_file`; expected at least one of them");
  };
  read_parts(root, "processes", "a map of processes by name", into.processes, one, out);
}

void read_audit(spot const& root, drill_plan& into, report& out) {
  using source = std::pair<std::string, std::string>;
  auto const one = [&](std::string const& name, spot const& at, source& made) { made = {name, read_url(at, out)}; };
  read_parts(root, "audit", "a map of services to URLs, as in {orders: \"http://127.0.0.1:7001\"}", into.audit, one, out);
}

void read_coordinators(spot const& root, drill_plan& into, report& out) {
  auto const at = required_field(root, "coordinators", "a list of URLs, as in [\"http://127.0.0.1:7070\"]", out);
  if (!at || !expect_list(*at, "a list of URLs", out)) return;
  if ((*at)->items.empty() || (*at)->items.size() > drill_plan::parts_max) return out.mistake(*at, "expected 1 to 64 URLs");
  for (std::size_t n = 0; n < (*at)->items.size(); ++n) into.coordinators.push_back(read_url(at->item(n), out));
}

// A variable may leave either of the two empty, which is as if it were not there.
std::optional<spot> filled_field(spot const& map, std::string_view key) {
  auto const at = field(map, key);
  return at && (*at)->is_scalar() && (*at)->text.empty() ? std::nullopt : at;
}

void read_schedule(spot const& root, drill_plan& into, report& out) {
  auto const rounds = filled_field(root, "rounds");
  auto const lasts = filled_field(root, "lasts");
  if (rounds && lasts) out.mistake(*lasts, "found `rounds` and `lasts`; expected one of them");
  if (rounds) into.rounds = small(read_integer(*rounds, 1, drill_plan::rounds_max, out), 1);
  if (lasts) into.lasts = read_duration(*lasts, out);
  if (auto const at = field(root, "order")) into.drawn = read_word(*at, orders, out).value_or(0) == 1;
  read_time(root, "rest", into.rest, out);
}

void read_must(spot const& root, drill_plan& into, report& out) {
  auto const at = field(root, "must");
  if (!at || !expect_map(*at, "a map, as in {recover_within: 5s}", out)) return;
  check_keys(*at, must_keys, out);
  read_time(*at, "recover_within", into.must.recover_within, out);
  if (auto const percent = field(*at, "back_to")) into.must.back_to = small(read_integer(*percent, 1, 100, out), 1);
  read_time(*at, "stays", into.must.stays, out);
  read_time(*at, "give_up", into.must.give_up, out);
  read_time(*at, "settle", into.must.settle, out);
  if (auto const most = field(*at, "parked")) into.must.parked = small(read_integer(*most, 0, 1'000'000, out), 0);
  if (auto const most = field(*at, "ended_by_themselves")) {
    into.must.ended_by_themselves = small(read_integer(*most, 0, 1'000'000, out), 0);
  }
  if (into.must.give_up < into.must.recover_within) out.mistake(*at, "`give_up` is less than `recover_within`; expected at least as much");
}

void read_document(spot const& root, drill_plan& into, report& out) {
  if (!expect_map(root, "a map with `drill`, `coordinators`, `load` and `faults`", out)) return;
  check_keys(root, plan_keys, out);
  if (auto const at = required_field(root, "drill", beginning, out))
    into.name = read_name(*at, "the name of a drill", false, out).value_or("");
  read_coordinators(root, into, out);
  read_optional_text(root, "token_file", "a file", into.token_file, out);
  read_load(root, into, out);
  read_proxies(root, into, out);
  read_processes(root, into, out);
  read_faults(root, into, out);
  read_schedule(root, into, out);
  read_must(root, into, out);
  read_audit(root, into, out);
}

}  // namespace

loaded_plan load_plan_text(std::string_view text, variable_lookup const& variables) {
  loaded_plan done;
  report out;
  auto made = std::make_shared<drill_plan>();
  if (auto const checked = check_source(text, out)) {
    if (auto root = read_tree(*checked, out, "a drill's plan", beginning)) {
      fill_in(*root, variables, out);
      read_document(spot{*root, ""}, *made, out);
    }
  }
  if (out.ok()) done.plan = std::move(made);
  done.diagnostics = out.take();
  return done;
}

}  // namespace atone::drill
