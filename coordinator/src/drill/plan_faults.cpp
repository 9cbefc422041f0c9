#include "drill/plan_faults.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "drill/plan_keys.hpp"

namespace atone::drill {
namespace {

using namespace yaml;

constexpr std::int64_t bytes_most = 1'000'000'000;
constexpr std::int64_t weight_most = 1000;
// In the order of fault_plan::kind_of.
constexpr std::array<std::string_view, 5> subjects{"kill", "pause", "proxy", "run", "clock"};
// The faults of a proxy, by the key that says so.
constexpr std::array network_kinds{fault_kind::delay,        fault_kind::stall,      fault_kind::half_open, fault_kind::reset,
                                   fault_kind::refuse,       fault_kind::cut,        fault_kind::duplicate, fault_kind::drip,
                                   fault_kind::lose_request, fault_kind::lose_answer};
constexpr std::array<std::string_view, 3> ways{"there", "back", "both"};

template <class Named>
bool names(std::vector<Named> const& known, std::string const& wanted, spot const& at, std::string_view what, report& out) {
  std::vector<std::string_view> all;
  for (auto const& each : known) all.push_back(each.name);
  if (std::find(all.begin(), all.end(), wanted) != all.end()) return true;
  auto const near = nearest(wanted, all);
  out.mistake(at, "the plan has no " + std::string{what} + " `" + wanted + "`" +
                      (near.empty() ? "" : "; did you mean `" + std::string{near} + "`?"));
  return false;
}

// The one key of the table that the map has; says so when it has none, or more than one.
template <class Words>
std::optional<spot> only_one(spot const& map, Words const& words, std::string const& expected, std::size_t& which, report& out) {
  std::optional<spot> found;
  for (std::size_t n = 0; n < words.size(); ++n) {
    auto const here = field(map, words[n]);
    if (!here) continue;
    if (found) {
      out.mistake(*here,
                  "found `" + std::string{words[which]} + "` and `" + std::string{words[n]} + "` in one fault; expected one of them");
      return std::nullopt;
    }
    found = here;
    which = n;
  }
  if (!found) out.mistake(map, expected);
  return found;
}

void read_way(spot const& map, network_fault& into, report& out) {
  if (auto const at = field(map, "way")) into.where = static_cast<way>(read_word(*at, ways, out).value_or(1));
}

void read_delay(spot const& map, spot const& value, network_fault& into, report& out) {
  into.of = read_duration(value, out).value_or(duration::zero());
  if (auto const at = field(map, "jitter")) {
    into.jitter = read_duration(*at, out).value_or(duration::zero());
    if (into.jitter > into.of) out.mistake(*at, "the jitter is more than the delay; expected at most " + format_duration(into.of));
  }
}

void read_drip(spot const& map, spot const& value, network_fault& into, report& out) {
  into.bytes = static_cast<std::uint64_t>(read_integer(value, 1, bytes_most, out).value_or(1));
  if (auto const at = required_field(map, "every", "as in `every: 20ms`: the time between two pieces", out)) {
    into.of = read_duration(*at, out).value_or(duration::zero());
  }
}

void read_network(spot const& map, network_fault& into, report& out) {
  std::array<std::string_view, network_kinds.size()> words{};
  std::transform(network_kinds.begin(), network_kinds.end(), words.begin(), [](fault_kind kind) { return name(kind); });
  std::size_t which = 0;
  auto const value = only_one(map, words,
                              "what the proxy does is missing; expected one of delay, stall, half_open, reset, refuse, cut, "
                              "duplicate, drip, lose_request, lose_answer",
                              which, out);
  if (!value) return;
  into.kind = network_kinds[which];
  read_way(map, into, out);
  switch (into.kind) {
    case fault_kind::delay: return read_delay(map, *value, into, out);
    case fault_kind::drip: return read_drip(map, *value, into, out);
    case fault_kind::cut: into.bytes = static_cast<std::uint64_t>(read_integer(*value, 1, bytes_most, out).value_or(1)); return;
    default: break;
  }
  auto const on = read_flag(*value, out);
  if (on && !*on) out.mistake(*value, "found false; expected true, or the key left out");
}

// Keys that say something only beside another.
void check_companions(spot const& map, fault_plan const& of, report& out) {
  auto const only = [&](std::string_view key, bool fits, std::string const& where) {
    auto const at = field(map, key);
    if (at && !fits) out.mistake(*at, "`" + std::string{key} + "` belongs to " + where);
  };
  bool const network = of.kind == fault_plan::kind_of::network;
  auto const kind = network ? of.network.kind : fault_kind::none;
  bool const has_way = kind == fault_kind::delay || kind == fault_kind::cut || kind == fault_kind::drip;
  only("jitter", kind == fault_kind::delay, "`delay`");
  only("every", kind == fault_kind::drip, "`drip`");
  only("way", has_way, "`delay`, `cut` and `drip`");
  only("by", of.kind == fault_plan::kind_of::clock, "`clock`");
  only("undo", of.kind == fault_plan::kind_of::command, "`run`");
  for (auto const each : network_kinds) only(name(each), network, "`proxy`");
}

// "+1h", "-30m".
void read_off(spot const& map, fault_plan& into, report& out) {
  auto const at = required_field(map, "by", "as in `by: +1h` or `by: -1h`: how wrong the clock is", out);
  auto const text = at ? read_text(*at, "a time with its sign, as in +1h or -1h", out) : std::nullopt;
  if (!text) return;
  bool const has_sign = text->starts_with('+') || text->starts_with('-');
  auto const time = has_sign ? parse_duration(text->substr(1)) : result<duration>{error{errc::invalid_argument, ""}};
  if (!time || *time == duration::zero()) return out.mistake(*at, "found `" + *text + "`; expected a time with its sign, as in +1h or -1h");
  into.off = text->starts_with('-') ? -*time : *time;
}

// Whoever is to have another clock must be started with it.
void read_clock(spot const& map, spot const& value, std::string const& process, fault_plan& into, drill_plan const& of, report& out) {
  read_off(map, into, out);
  auto const found = std::find_if(of.processes.begin(), of.processes.end(), [&](auto const& one) { return one.name == process; });
  if (found == of.processes.end() || !found->start.empty()) return;
  out.mistake(value, "process `" + process + "` has no `start`; expected one: only what the drill starts can be given another clock");
}

void read_subject(spot const& map, std::size_t which, spot const& value, fault_plan& into, drill_plan const& of, report& out) {
  into.kind = static_cast<fault_plan::kind_of>(which);
  bool const is_line = into.kind == fault_plan::kind_of::command;
  auto const text = read_text(value, is_line ? "a command line" : "a name", out);
  if (!text) return;
  switch (into.kind) {
    case fault_plan::kind_of::kill:
    case fault_plan::kind_of::clock:
    case fault_plan::kind_of::pause: names(of.processes, *text, value, "process", out); break;
    case fault_plan::kind_of::network: names(of.proxies, *text, value, "proxy", out); break;
    case fault_plan::kind_of::command: into.run = *text; break;
  }
  if (!is_line) into.target = *text;
  if (into.kind == fault_plan::kind_of::clock) read_clock(map, value, *text, into, of, out);
  if (into.kind == fault_plan::kind_of::network) read_network(map, into.network, out);
}

void read_expect(spot const& map, expectation& into, report& out) {
  auto const at = field(map, "expect");
  if (!at || !expect_map(*at, "a map with `fallback` or `alert`", out)) return;
  check_keys(*at, expect_keys, out);
  if (auto const step = field(*at, "fallback"))
    into.fallback = read_text(*step, "the path of a step, as in fan/profile/tag", out).value_or("");
  if (auto const kind = field(*at, "alert")) into.alert = read_text(*kind, "the kind of an alert, as in fallback", out).value_or("");
}

void read_time(spot const& map, fault_plan& into, report& out) {
  if (auto const at = field(map, "for")) {
    into.lasts = read_duration(*at, out);
  } else if (into.kind != fault_plan::kind_of::kill) {
    out.mistake(map, "`for` is missing", "as in `for: 10s`: how long the fault lasts");
  }
}

fault_plan read_fault(spot const& map, drill_plan const& of, report& out) {
  fault_plan made;
  if (!expect_map(map, "a map, as in {kill: atoned}", out)) return made;
  check_keys(map, fault_keys, out);
  std::size_t which = 0;
  auto const subject = only_one(map, subjects, "what goes wrong is missing; expected one of kill, pause, proxy, run, clock", which, out);
  if (!subject) return made;
  read_subject(map, which, *subject, made, of, out);
  check_companions(map, made, out);
  read_time(map, made, out);
  if (auto const at = field(map, "undo")) made.undo = read_text(*at, "a command line", out).value_or("");
  if (auto const at = field(map, "weight")) made.weight = static_cast<std::uint32_t>(read_integer(*at, 1, weight_most, out).value_or(1));
  read_expect(map, made.expect, out);
  return made;
}

}  // namespace

void read_faults(spot const& root, drill_plan& into, report& out) {
  auto const at = required_field(root, "faults", "a list, as in `faults: [{kill: atoned}]`", out);
  if (!at || !expect_list(*at, "a list of faults", out)) return;
  if ((*at)->items.empty() || (*at)->items.size() > drill_plan::faults_max) {
    return out.mistake(*at,
                       "found " + std::to_string((*at)->items.size()) + " faults; expected 1 to " + std::to_string(drill_plan::faults_max));
  }
  for (std::size_t n = 0; n < (*at)->items.size(); ++n) into.faults.push_back(read_fault(at->item(n), into, out));
}

}  // namespace atone::drill
