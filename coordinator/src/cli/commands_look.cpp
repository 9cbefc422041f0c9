// show, history, watch, alerts, nodes.
#include <atone/load.hpp>

#include "cli/command.hpp"
#include "cli/daemon_client.hpp"
#include "cli/figures.hpp"
#include "cli/history.hpp"
#include "cli/saga_access.hpp"
#include "cli/table.hpp"
#include "cli/timeline.hpp"
#include "cli/wire.hpp"

namespace atone::cli {
namespace {

// Everything show needs, and the JSON it came from.
struct fetched_story {
  saga_story story;
  std::string saga_json;
  std::string history_json;

  fetched_story() = default;
};

void list_steps(std::vector<step> const& steps, step_path const& under, std::vector<step_path>& out) {
  for (auto const& one : steps) {
    auto const path = under.child(one.id);
    out.push_back(path);
    auto const* fork = std::get_if<parallel_verb>(&one.verb);
    if (fork == nullptr) continue;
    for (auto const& arm : fork->branches) list_steps(arm.steps, path.child(arm.name), out);
  }
}

// The steps in the order of the text; nothing when the daemon can't say (the picture then shows reached steps only).
std::vector<step_path> definition_steps(definition_ref const& which, surroundings const& with) {
  target from{"/v1/definitions"};
  from.segment(which.name).query("version", std::to_string(which.version.value()));
  auto const answer = daemon_client{with}.get(from);
  if (!answer) return {};
  auto const read = load_definition(text_of(*answer, "text"));
  std::vector<step_path> steps;
  if (read.ok()) list_steps(read.definition->steps, step_path{}, steps);
  return steps;
}

result<fetched_story> fetch_story(std::string const& id, surroundings const& with) {
  auto const saga_at = saga_target(id);
  if (!saga_at) return saga_at.error();
  auto const saga = daemon_client{with}.get(*saga_at);
  if (!saga) return saga.error();
  auto const history = daemon_client{with}.get(*saga_target(id, "history"));
  if (!history) return history.error();
  fetched_story out;
  out.saga_json = saga->raw();
  out.history_json = history->raw();
  out.story.row = read_saga(*saga);
  out.story.steps = read_steps(*saga);
  if (auto const lock = saga->find("lock")) {
    out.story.lock = raw_of(*lock, "value");
    out.story.lock_holder = text_of(*lock, "holder");
  }
  out.story.events = read_events(*history);
  out.story.now = with.now();
  return out;
}

result<std::string> newest_id(std::string_view status, surroundings const& with) {
  target from{"/v1/sagas"};
  if (!status.empty()) from.query("status", status);
  from.query("limit", "1");
  auto const answer = daemon_client{with}.get(from);
  if (!answer) return answer.error();
  auto const sagas = elements_of(*answer, "sagas");
  if (!sagas.empty()) return text_of(sagas.front(), "id");
  return error{errc::not_found, status.empty() ? "there is no saga yet" : "no saga is " + std::string{status}};
}

result<std::string> chosen_id(arguments const& typed, surroundings const& with) {
  if (typed.has("ID")) return typed.get("ID");
  if (typed.has("last-compensated")) return newest_id("compensated", with);
  if (typed.has("last-parked")) return newest_id("parked", with);
  if (typed.has("last")) return newest_id("", with);
  return error{errc::invalid_argument, "which saga? expected its ID, --last, --last-compensated or --last-parked"};
}

void print_parked(saga_story const& story, terminal const& to) {
  for (auto const& view : story.steps) {
    if (view.phase != run_phase::parked && view.undo != undo_phase::parked) continue;
    to.out() << "\nparked at " << printable(view.path.text());
    if (!view.last_error.empty()) to.out() << ": " << printable(view.last_error);
    to.out() << "\n  atone retry " << story.row.id.text() << " --step " << printable(view.path.text()) << '\n';
  }
}

void print_story_json(fetched_story const& of, terminal const& to) {
  json::writer out;
  out.begin_object().key("saga").raw(of.saga_json).key("history").raw(of.history_json).end_object();
  to.out() << out.take() << '\n';
}

// ---- watch ----

constexpr std::string_view redraw = "\x1b[H\x1b[2J";

struct watching {
  duration interval{};
  std::uint64_t looks_max = 0;  // 0: no end
  std::uint64_t looks = 0;

  watching() = default;
  bool is_over() const noexcept { return looks_max != 0 && looks >= looks_max; }
};

exit_code watch_one(std::string const& id, watching times, surroundings const& with) {
  std::size_t printed = 0;
  std::vector<step_path> steps;
  while (true) {
    auto fetched = fetch_story(id, with);
    if (!fetched) return report(fetched.error(), with);
    auto& story = fetched->story;
    ++times.looks;
    if (with.screen.traits().interactive) {
      if (steps.empty()) steps = definition_steps(story.row.definition, with);
      story.all_steps = steps;
      with.screen.out() << redraw;
      print_timeline(story, with.screen);
    } else {
      print_events(story.events, printed, false, with.screen);
      printed = story.events.size();
    }
    with.screen.out().flush();
    if (has_settled(story.row.status)) return exit_code_of(story.row.status);
    if (times.is_over()) return exit_code::timed_out;
    with.pause(times.interval);
  }
}

void print_stats(json::value const& stats, terminal const& to) {
  std::string line;
  for (auto const* word : {"open", "started", "completed", "compensated", "parked", "events", "commits", "calls_in_flight"}) {
    if (!line.empty()) line += "  ";
    line += word;
    line += ' ';
    line += std::to_string(integer_of(stats, word));
  }
  to.out() << line << '\n';
}

exit_code watch_all(watching times, surroundings const& with) {
  while (true) {
    auto const stats = daemon_client{with}.get(target{"/v1/stats"});
    if (!stats) return report(stats.error(), with);
    ++times.looks;
    if (with.screen.traits().interactive) with.screen.out() << redraw;
    print_stats(*stats, with.screen);
    if (with.screen.traits().interactive) {
      with.screen.out() << '\n';
      auto const code = run_list(arguments{}, with);
      if (code != exit_code::done) return code;
    }
    with.screen.out().flush();
    if (times.is_over()) return exit_code::done;
    with.pause(times.interval);
  }
}

std::uint64_t count_of(std::string const& text) {
  std::uint64_t count = 0;
  for (char const digit : text) {
    if (digit < '0' || digit > '9' || count > 1'000'000) return 0;
    count = count * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return count;
}

}  // namespace

exit_code run_show(arguments const& typed, surroundings const& with) {
  auto const id = chosen_id(typed, with);
  if (!id) return report(id.error(), with);
  auto fetched = fetch_story(*id, with);
  if (!fetched) return report(fetched.error(), with);
  if (with.wants_json(typed)) {
    print_story_json(*fetched, with.screen);
    return exit_code::done;
  }
  fetched->story.all_steps = definition_steps(fetched->story.row.definition, with);
  print_timeline(fetched->story, with.screen);
  print_parked(fetched->story, with.screen);
  return exit_code::done;
}

exit_code run_history(arguments const& typed, surroundings const& with) {
  auto const from = saga_target(typed.get("ID"), "history");
  if (!from) return report(from.error(), with);
  auto const answer = daemon_client{with}.get(*from);
  if (!answer) return report(answer.error(), with);
  if (with.wants_json(typed)) {
    with.screen.out() << answer->raw() << '\n';
  } else {
    print_events(read_events(*answer), 0, typed.has("verbose"), with.screen);
  }
  return exit_code::done;
}

exit_code run_watch(arguments const& typed, surroundings const& with) {
  watching times;
  auto const interval = typed_duration(typed, "interval", "1s");
  if (!interval) return report(interval.error(), with);
  times.interval = *interval;
  times.looks_max = count_of(typed.get("count", "0"));
  return typed.has("ID") ? watch_one(typed.get("ID"), times, with) : watch_all(times, with);
}

exit_code run_alerts(arguments const& typed, surroundings const& with) {
  target from{"/v1/alerts"};
  from.query("limit", typed.get("limit", "20"));
  auto const answer = daemon_client{with}.get(from);
  if (!answer) return report(answer.error(), with);
  if (with.wants_json(typed)) {
    with.screen.out() << answer->raw() << '\n';
    return exit_code::done;
  }
  table out{{"raised (UTC)", "level", "kind", "saga", "step", "text"}};
  for (auto const& one : read_alerts(*answer)) {
    out.add({readable(one.raised_at), std::string{name(one.level)}, printable(one.kind), one.saga.text(), printable(one.step.text()),
             printable(one.text)});
  }
  out.print(with.screen);
  return exit_code::done;
}

exit_code run_nodes(arguments const& typed, surroundings const& with) {
  auto const answer = daemon_client{with}.get(target{"/v1/nodes"});
  if (!answer) return report(answer.error(), with);
  if (with.wants_json(typed)) {
    with.screen.out() << answer->raw() << '\n';
    return exit_code::done;
  }
  table out{{"node", "state", "shards", "address"}};
  for (auto const& one : read_nodes(*answer)) {
    auto const state = !one.alive ? std::string{"gone"} : one.here ? "alive, asked" : "alive";
    out.add({printable(one.node.value()), state, std::to_string(one.shards), one.address.empty() ? "none" : printable(one.address)});
  }
  out.print(with.screen);
  return exit_code::done;
}

}  // namespace atone::cli
