// doctor: what is wrong with this installation, in one screen.
#include <atone/journal.hpp>

#include "cli/command.hpp"
#include "cli/daemon_client.hpp"
#include "cli/finding.hpp"
#include "cli/gpu_check.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "cli/wire.hpp"

namespace atone::cli {
namespace {

std::string_view word_of(verdict how) noexcept {
  if (how == verdict::fine) return "ok";
  if (how == verdict::left_out) return "left out";
  return how == verdict::warning ? "warning" : "FAULT";
}

style tone_of(verdict how) noexcept {
  if (how == verdict::fine) return style::good;
  if (how == verdict::left_out) return style::dim;
  return how == verdict::warning ? style::warn : style::bad;
}

bool look_at_health(daemon_client const& daemon, surroundings const& with, findings& out) {
  auto const health = daemon.raw(target{"/health"});
  if (!health) {
    out.emplace_back(verdict::fault, "daemon", health.error().message);
    return false;
  }
  out.emplace_back(verdict::fine, "daemon", "answers at " + with.url);
  auto const ready = daemon.raw(target{"/ready"});
  bool const is_ready = ready && ready->status == 200;
  auto const why = !ready ? ready.error().message : is_ready ? "writes to its store" : error_of(*ready).message;
  out.emplace_back(is_ready ? verdict::fine : verdict::fault, "ready", why);
  return true;
}

constexpr std::int64_t lag_seconds_max = 3600;

// What is kept for how long. A daemon from before there was retention says nothing of it.
void look_at_retention(json::value const& stats, findings& out) {
  auto const set = stats.find("retention");
  if (!set) return;
  auto const kept = text_of(*set, "sagas");
  auto const deleted = integer_of(*set, "deleted");
  auto words = kept.empty() ? std::string{"finished sagas are kept for ever (atoned --retention)"}
                            : "finished sagas are kept " + kept + ", their keys " + text_of(*set, "keys");
  if (!kept.empty() || deleted > 0) words += "; deleted so far: " + std::to_string(deleted);
  out.emplace_back(verdict::fine, "retention", words);
  auto const lag = integer_of(*set, "lag_seconds");
  if (lag <= lag_seconds_max) return;
  auto const behind = format_duration(std::chrono::duration_cast<duration>(std::chrono::hours{lag / 3600}));
  out.emplace_back(verdict::warning, "retention", "more ends than is deleted, or much was old when it was set: " + behind + " behind");
}

// The feature sets that the daemon serves: whether they take writes, and how far behind they are.
void look_at_features(json::value const& stats, findings& out) {
  constexpr std::int64_t freshness_seconds_max = 300;
  auto const sets = stats.find("features");
  if (!sets) return;
  for (auto const& one : sets->elements()) {
    auto const name = "features " + text_of(one, "set");
    auto const writable = one.find("writable");
    if (writable && !writable->as_bool()) out.emplace_back(verdict::fault, name, "takes no writes since one failed: restart the daemon");
    auto const differences = integer_of(one, "differences");
    if (differences > 0) out.emplace_back(verdict::fault, name, std::to_string(differences) + " inputs gave other features than before");
    auto const age = integer_of(one, "freshness_seconds");
    auto const freshness = one.find("freshness_seconds");
    bool const is_fresh_known = freshness && !freshness->is_null();
    auto const words = std::to_string(integer_of(one, "events")) + " events of " + std::to_string(integer_of(one, "entities")) +
                       " entities, " + std::to_string(integer_of(one, "stale")) + " stale; " +
                       (is_fresh_known ? "the newest event applied is " + std::to_string(age) + " s old" : "none is applied yet");
    out.emplace_back(age > freshness_seconds_max ? verdict::warning : verdict::fine, name, words);
  }
}

void look_at_stats(daemon_client const& daemon, findings& out) {
  auto const stats = daemon.get(target{"/v1/stats"});
  if (!stats) {
    out.emplace_back(verdict::fault, "api", stats.error().message);
    return;
  }
  auto const theirs = text_of(*stats, "version");
  bool const differs = !theirs.empty() && theirs != version;
  out.emplace_back(differs ? verdict::warning : verdict::fine, "version",
                   differs ? "the daemon is " + theirs + ", this is " + std::string{version} : std::string{version});
  auto const parked = integer_of(*stats, "parked");
  auto const words = parked == 0 ? "no saga is parked" : std::to_string(parked) + " wait for a person: atone list --status parked";
  out.emplace_back(parked == 0 ? verdict::fine : verdict::warning, "parked", words);
  look_at_retention(*stats, out);
  look_at_features(*stats, out);
}

void look_at_alerts(daemon_client const& daemon, findings& out) {
  auto const alerts = daemon.get(target{"/v1/alerts"}.query("limit", "1000"));
  if (!alerts) return;
  std::size_t pages = 0;
  for (auto const& one : read_alerts(*alerts)) pages += one.level == alert_level::page ? 1 : 0;
  auto const words = pages == 0 ? "none that should wake somebody" : std::to_string(pages) + " that should wake somebody: atone alerts";
  out.emplace_back(pages == 0 ? verdict::fine : verdict::warning, "alerts", words);
}

std::string named(std::vector<node_view> const& nodes) {
  std::string words;
  for (auto const& one : nodes) words += (words.empty() ? "" : ", ") + one.node.value();
  return words;
}

// Who shares the store with the daemon. Only one that is alive can be wrong about itself: others can't reach it without an address.
void look_at_nodes(daemon_client const& daemon, findings& out) {
  auto const list = daemon.get(target{"/v1/nodes"});
  if (!list) return;  // a daemon from before there were nodes
  std::vector<node_view> alive;
  std::vector<node_view> gone;
  for (auto const& one : read_nodes(*list)) (one.alive ? alive : gone).push_back(one);
  auto words = alive.size() == 1 ? named(alive) + " drives every saga of the store" : named(alive) + " share the store";
  if (!gone.empty()) words += "; gone: " + named(gone);
  out.emplace_back(verdict::fine, "nodes", words);
  for (auto const& one : gone) {
    if (one.shards == 0) continue;
    out.emplace_back(
        verdict::warning, "nodes",
        one.node.value() + " is gone, and nobody has taken over its " + std::to_string(one.shards) + " shards: their sagas stand still");
  }
  if (alive.size() < 2) return;
  for (auto const& one : alive) {
    if (!one.address.empty()) continue;
    out.emplace_back(verdict::warning, "nodes",
                     one.node.value() + " has no address: actions and reports for its sagas must be asked of itself (--advertise)");
  }
}

void look_at_store(std::string const& address, findings& out) {
  auto const opened = open_store(address);
  if (!opened) {
    out.emplace_back(verdict::fault, "store", opened.error().message);
    return;
  }
  auto& store = **opened;
  auto const status = store.status();
  if (!status) {
    out.emplace_back(verdict::fault, "store", status.error().message);
    return;
  }
  bool const current = status->found == status->expected;
  auto const words =
      store.description() + ": tables at " + std::to_string(status->found) + ", expected " + std::to_string(status->expected);
  out.emplace_back(current ? verdict::fine : verdict::fault, "store", current ? words : words + ": atone db migrate");
  for (auto const& fault : store.health()) out.emplace_back(verdict::fault, "store", fault);
}

// Parts that a build may have or not: what is missing is said, not found out.
void look_at_parts(findings& out) {
  out.emplace_back(verdict::left_out, "kafka", "not part of this version yet");
  auto const plugin = find_gpu_plugin();
  out.emplace_back(plugin.empty() ? verdict::left_out : verdict::fine, "gpu",
                   plugin.empty() ? "no plug-in beside this program: features are computed on the CPU" : plugin + " (atone doctor --gpu)");
}

void look_at_all(arguments const& typed, surroundings const& with, findings& out) {
  daemon_client const daemon{with};
  if (look_at_health(daemon, with, out)) {
    look_at_stats(daemon, out);
    look_at_alerts(daemon, out);
    look_at_nodes(daemon, out);
  }
  if (typed.has("store")) look_at_store(typed.get("store"), out);
  look_at_parts(out);
}

void print_findings(findings const& found, terminal const& to) {
  table out{{"", "what", "found"}};
  for (auto const& one : found) out.add({to.paint(tone_of(one.how), word_of(one.how)), one.what, printable(one.detail)});
  out.print(to);
}

void print_json(findings const& found, terminal const& to) {
  json::writer out;
  out.begin_object().key("findings").begin_array();
  for (auto const& one : found) {
    out.begin_object().key("verdict").string(one.how == verdict::fault ? "fault" : word_of(one.how));
    out.key("what").string(one.what).key("detail").string(one.detail).end_object();
  }
  out.end_array().end_object();
  to.out() << out.take() << '\n';
}

}  // namespace

exit_code run_doctor(arguments const& typed, surroundings const& with) {
  findings found;
  if (typed.has("gpu")) {
    look_at_gpus(typed.has("plugin") ? typed.get("plugin") : find_gpu_plugin(), found);
  } else {
    look_at_all(typed, with, found);
  }
  if (with.wants_json(typed)) {
    print_json(found, with.screen);
  } else {
    print_findings(found, with.screen);
  }
  for (auto const& one : found) {
    if (one.how == verdict::fault) return exit_code::negative;
  }
  return exit_code::done;
}

}  // namespace atone::cli
