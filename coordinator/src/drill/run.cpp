#include "drill/run.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "drill/api.hpp"
#include "drill/installation.hpp"
#include "drill/load.hpp"
#include "drill/tally.hpp"
#include "drill/watcher.hpp"

namespace atone::drill {
namespace {

using steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds slice{20};         // between two looks at what is waited for
constexpr std::chrono::milliseconds watch_every{100};  // at processes that may have ended by themselves
constexpr duration ready_max = std::chrono::seconds{30};
constexpr duration gone_max = std::chrono::seconds{5};
constexpr duration traffic_max = std::chrono::seconds{5};  // until a proxy that is in use has carried something
constexpr duration command_max = std::chrono::minutes{1};
constexpr int starts_max = 4;  // of a process that ends before it is ready
constexpr duration start_again_after = std::chrono::milliseconds{500};

class drill_run {
 public:
  drill_run(drill_plan const& plan, drill_world const& with)
      : plan_(plan),
        with_(with),
        order_(plan, with.seed),
        here_(plan),
        watcher_(here_),
        load_(io_, plan, with.token, with.tls, with.run, with.first),
        work_(io_.get_executor()) {
    report_.name = plan.name;
    report_.seed = with.seed;
    report_.must_be_whole = with.must_be_whole;
    for (auto const& each : plan.faults) {
      report_.faults.emplace_back();
      report_.faults.back().text = each.text();
      report_.faults.back().expect = each.expect;
      report_.faults.back().kills = each.kind == fault_plan::kind_of::kill;
      if (each.kind == fault_plan::kind_of::network) report_.faults.back().proxy = each.target;
      if (each.kind == fault_plan::kind_of::clock && with.clock_library.empty()) {
        report_.faults.back().left_out = "libfaketime is not there (Debian: package faketime)";
      }
    }
  }

  result<drill_report> run() {
    if (auto up = bring_up(); !up) return up.error();
    begun_ = steady::now();
    load_.begin();
    warm_up();
    if (goes_on()) apply_faults();
    load_.stop_starting();
    if (!report_.interrupted) look_at_what_is_left();
    watch_now();
    report_.ended = watcher_.ended();
    report_.sagas = add_up(load_.ledger());
    add_doubled(load_.ledger(), stored_, report_.sagas);
    if (load_.failure() && report_.trouble.empty()) report_.trouble = load_.failure()->message;
    load_.stop();
    report_.took = since_begin();
    report_.repeats = load_.repeats();
    return std::move(report_);
  }

 private:
  duration since_begin() const { return std::chrono::duration_cast<duration>(steady::now() - begun_); }
  bool goes_on() const { return !report_.interrupted && report_.trouble.empty() && !load_.failure(); }
  void trouble(std::string what) {
    if (report_.trouble.empty()) report_.trouble = std::move(what);
  }
  api_access access(std::size_t which = 0) const {
    api_access made;
    made.url = plan_.coordinators[which];
    made.token = with_.token;
    made.tls = with_.tls;
    return made;
  }

  // Lets the load work until the condition holds or the time is over; whether it holds.
  template <class Condition>
  bool pump(duration time, Condition holds) {
    auto const end = steady::now() + time;
    while (!holds()) {
      auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(end - steady::now());
      report_.interrupted = report_.interrupted || with_.interrupted();
      if (left <= std::chrono::milliseconds::zero() || report_.interrupted) return false;
      io_.run_for(std::min(left, slice));
      watch();
    }
    return true;
  }
  void pump(duration time) {
    pump(time, [] { return false; });
  }

  void watch() {
    if (!watching_ || steady::now() < next_watch_) return;
    next_watch_ = steady::now() + watch_every;
    if (auto looked = watcher_.look(steady::now(), down_); !looked) trouble(looked.error().message);
  }
  void watch_now() {
    next_watch_ = steady::now();
    watch();
  }

  result<void> bring_up() {
    if (auto listening = here_.start_proxies(with_.seed); !listening) return listening;
    for (auto const& each : here_.processes()) {
      if (auto up = each->bring_up(); !up) return up;
      if (auto ready = wait_until_ready(*each); !ready) return ready;
    }
    watching_ = true;
    bool const answers = pump(ready_max, [&] { return is_ready(plan_.coordinators.front() + "/ready", with_.tls); });
    if (report_.interrupted) return error{errc::unavailable, "interrupted before the first saga"};
    if (!answers) return error{errc::unavailable, "no coordinator is ready at " + plan_.coordinators.front()};
    return publish_definition();
  }

  // One that ends meanwhile is started again, some times: what it needs may be starting too.
  result<void> wait_until_ready(managed_process& of) {
    auto const& plan = of.plan();
    if (plan.ready.empty()) return {};
    bool ended = false;
    for (int starts = 1;; ++starts) {
      bool const ready = pump(ready_max, [&] {
        ended = !of.running();
        return ended || is_ready(plan.ready, with_.tls);
      });
      if (ready && !ended) return {};
      if (!ended || !of.can_start() || starts == starts_max) break;
      pump(start_again_after);
      if (auto started = of.start(); !started) return started;
    }
    auto const where = plan.log.empty() ? std::string{} : "; its log: " + plan.log;
    return error{errc::unavailable, "process " + plan.name + (ended ? " " + of.exit_text() : " is not ready at " + plan.ready) + where};
  }

  result<void> publish_definition() {
    if (plan_.load.definition.empty()) return {};
    std::ifstream file{plan_.load.definition, std::ios::binary};
    if (!file) return error{errc::invalid_argument, plan_.load.definition + " can't be read"};
    return publish(access(), std::string{std::istreambuf_iterator<char>{file}, {}});
  }

  void warm_up() {
    auto const from = load_.now();
    auto const before = load_.ends().size();
    pump(plan_.load.warm_up);
    report_.usual.add(load_.now() - from, load_.ends().size() - before);
    with_.tell("usual: " + std::to_string(static_cast<std::uint64_t>(report_.usual.per_second())) + " sagas a second");
    wanted_ = report_.usual.share(plan_.must.back_to);
    if (goes_on() && wanted_.ends == 0) trouble("no saga ended during the warm-up of " + format_duration(plan_.load.warm_up));
  }

  void apply_faults() {
    auto const begun = steady::now();
    auto const all = plan_.rounds * plan_.faults.size();
    auto const more = [&](std::size_t done) { return plan_.lasts ? steady::now() - begun < *plan_.lasts : done < all; };
    for (std::size_t done = 0; goes_on() && more(done); ++done) apply(order_.next());
  }

  void apply(std::size_t which) {
    auto const& fault = plan_.faults[which];
    auto& record = report_.faults[which];
    if (!record.left_out.empty()) return pump(slice);
    ++record.times;
    auto const settled_before = load_.ends().size();
    fault_began_ = load_.now();
    auto const ended = bring_about(fault, record);
    if (!ended) return trouble(fault.text() + ": " + ended.error().message);
    auto const outcome = goes_on() ? measure(*ended, record) : "not measured";
    if (goes_on()) pump(plan_.rest);
    account(settled_before, record);
    with_.tell(seconds_text(since_begin()) + "  " + fault.text() + ": " + outcome);
  }

  // From the beginning of the fault to its end; the moment of its end, by the load's clock.
  result<duration> bring_about(fault_plan const& fault, fault_record& into) {
    switch (fault.kind) {
      case fault_plan::kind_of::kill: return kill(here_.process(fault.target), fault.lasts);
      case fault_plan::kind_of::pause: return pause(here_.process(fault.target), *fault.lasts);
      case fault_plan::kind_of::network: return disturb(here_.proxy(fault.target), fault, into);
      case fault_plan::kind_of::clock: return set_wrong(here_.process(fault.target), fault, into);
      case fault_plan::kind_of::command: break;
    }
    return run_commands(fault);
  }

  // One that has ended by itself meanwhile is about to be started again.
  void until_it_runs(managed_process& what) {
    watch_now();
    pump(gone_max, [&] { return what.running(); });
  }

  result<duration> kill(managed_process& what, std::optional<duration> lasts) {
    until_it_runs(what);
    fault_began_ = load_.now();
    down_ = &what;
    watch_now();
    auto const killed = what.kill();
    auto at = load_.now();
    pump(gone_max, [&] { return !what.running(); });
    if (killed && lasts) {
      pump(*lasts);
      at = load_.now();
    }
    down_ = nullptr;
    if (!killed) return killed.error();
    if (!what.can_start()) return at;
    if (auto started = what.start(); !started) return started.error();
    return at;
  }

  // It is started with the wrong clock, and after that time with the right one: what it wrote meanwhile it reads again.
  // One that is linked statically, say, never had the wrong one: nothing is shown.
  result<duration> set_wrong(managed_process& what, fault_plan const& by, fault_record& into) {
    what.set_clock(by.off, with_.clock_library);
    auto const begun = kill(what, std::nullopt);
    auto const since = fault_began_;
    if (begun) pump(*by.lasts);
    if (begun && !report_.interrupted && !what.has_loaded(with_.clock_library)) ++into.hit_nothing;
    what.set_clock(duration::zero(), with_.clock_library);
    auto const ended = begun ? kill(what, std::nullopt) : begun;
    fault_began_ = since;
    return ended;
  }

  result<duration> pause(managed_process& what, duration lasts) {
    until_it_runs(what);
    fault_began_ = load_.now();
    if (auto paused = what.pause(); !paused) return paused.error();
    pump(lasts);
    what.go_on();
    return load_.now();
  }

  // Nothing is shown by a fault that nobody met: before it the proxy must be carrying something, and while it lasts it must touch somebody.
  result<duration> disturb(fault_proxy& what, fault_plan const& by, fault_record& into) {
    auto const idle = what.figures();
    bool const in_use = pump(traffic_max, [&] { return what.figures().carried != idle.carried; });
    auto const before = what.figures();
    fault_began_ = load_.now();
    what.set(by.network);
    pump(*by.lasts);
    what.heal();
    auto const at = load_.now();
    auto const hits = what.figures().touched - before.touched;
    into.hits += hits;
    if (!report_.interrupted && (!in_use || hits == 0)) ++into.hit_nothing;
    return at;
  }

  result<duration> run_commands(fault_plan const& fault) {
    auto const done = run_command(fault.run);
    if (done) pump(*fault.lasts);
    auto const undone = fault.undo.empty() ? result<void>{} : run_command(fault.undo);
    if (!done) return done.error();
    if (!undone) return undone.error();
    return load_.now();
  }

  // Also when the drill is interrupted: what was done is undone.
  result<void> run_command(std::string const& line) {
    auto started = command::start(line, "", true);
    if (!started) return started.error();
    auto const end = steady::now() + command_max;
    while (started->running() && steady::now() < end) io_.run_for(slice);
    if (!started->running())
      return started->succeeded() ? result<void>{} : error{errc::unavailable, "`" + line + "` " + started->exit_text()};
    started->signal(SIGKILL);
    started->reap();
    return error{errc::unavailable, "`" + line + "` has not ended within " + format_duration(command_max)};
  }

  std::string measure(duration from, fault_record& into) {
    std::optional<duration> at;
    pump(plan_.must.give_up + plan_.must.stays, [&] {
      at = recovered_at(load_.ends(), from, wanted_, plan_.must.stays);
      return at.has_value() || load_.failure().has_value();
    });
    into.gaps.push_back(longest_gap(load_.ends(), fault_began_, load_.now()));
    if (at) {
      into.recoveries.push_back(*at - from);
      return "recovered after " + seconds_text(*at - from);
    }
    if (report_.interrupted) return "interrupted";
    ++into.unrecovered;
    return "NOT RECOVERED within " + format_duration(plan_.must.give_up);
  }

  // What ended from the fault's begin until now.
  void account(std::size_t settled_before, fault_record& into) {
    auto const here = settled_since(load_.ledger(), load_.settled_rows(), settled_before);
    into.settled += here.sagas.size();
    for (auto const& [step, count] : here.fell_back) into.fell_back[step] += count;
    if (!goes_on()) return;
    if (!into.expect.fallback.empty() && !here.fell_back.contains(into.expect.fallback)) ++into.fallback_missed;
    if (!into.expect.alert.empty()) count_alerts_of(here.sagas, into);
  }

  void count_alerts_of(std::set<saga_id> const& sagas, fault_record& into) {
    result<std::map<std::string, std::uint64_t>> counts{error{errc::unavailable, "no coordinator"}};
    for (std::size_t n = 0; n < plan_.coordinators.size() && !counts; ++n) counts = count_alerts(access(n), sagas);
    if (!counts) return trouble("alerts can't be read: " + counts.error().message);
    for (auto const& [kind, count] : *counts) into.alerts[kind] += count;
    if (!counts->contains(into.expect.alert)) ++into.alert_missed;
  }

  void look_at_what_is_left() {
    with_.tell("waiting for the last sagas");
    if (!pump(plan_.must.settle, [&] { return load_.quiet(); }) && !report_.interrupted) {
      trouble("not every saga had ended, and not every start was answered, within " + format_duration(plan_.must.settle));
    }
    bool verified = false;
    load_.verify([&] { verified = true; });
    with_.tell("asking for each of " + std::to_string(load_.ledger().size()) + " sagas");
    if (!pump(plan_.must.settle, [&] { return verified; })) trouble("the coordinators did not say in time what became of every saga");
    if (report_.interrupted) return;
    list_what_is_stored();
    with_.tell("audit");
    result<audit::report> found{error{errc::unavailable, "no coordinator"}};
    for (std::size_t n = 0; n < plan_.coordinators.size() && !found; ++n) found = with_.audit(plan_.coordinators[n]);
    if (!found) return trouble("no audit: " + found.error().message);
    report_.audit = std::move(*found);
  }

  // A start doubled under one key shows itself only in the store: the load was told of one saga.
  void list_what_is_stored() {
    result<std::vector<held_key>> found{error{errc::unavailable, "no coordinator"}};
    for (std::size_t n = 0; n < plan_.coordinators.size() && !found; ++n) found = list_keys(access(n), load_.key_prefix());
    if (!found) return trouble("the drill's sagas can't be listed: " + found.error().message);
    stored_ = std::move(*found);
    auto const sums = add_up(load_.ledger());
    auto const expected = sums.accepted - sums.missing;
    if (stored_.size() >= expected) return;
    trouble("the store lists " + std::to_string(stored_.size()) + " of the drill's " + std::to_string(expected) + " sagas");
  }

  drill_plan const& plan_;
  drill_world const& with_;
  fault_order order_;
  drill_report report_;
  boost::asio::io_context io_{1};
  installation here_;
  watcher watcher_;
  load load_;
  std::vector<held_key> stored_;  // of this drill, at the end
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  steady::time_point begun_ = steady::now();
  steady::time_point next_watch_ = steady::now();
  managed_process* down_ = nullptr;  // down on purpose
  wanted_rate wanted_;
  duration fault_began_{};  // the newest one, by the load's clock
  bool watching_ = false;
};

// splitmix64: the same numbers everywhere.
std::uint64_t drawn(std::uint64_t& state) noexcept {
  state += 0x9E3779B97F4A7C15ULL;
  auto mixed = state;
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
  return mixed ^ (mixed >> 31U);
}

}  // namespace

std::size_t fault_order::next() {
  if (!plan_.drawn || at_ < plan_.faults.size()) return at_++ % plan_.faults.size();
  std::uint64_t sum = 0;
  for (auto const& each : plan_.faults) sum += each.weight;
  auto left = drawn(state_) % sum;
  std::size_t which = 0;
  while (left >= plan_.faults[which].weight) left -= plan_.faults[which++].weight;
  return which;
}

result<drill_report> run_drill(drill_plan const& plan, drill_world const& with) {
  return drill_run{plan, with}.run();
}

}  // namespace atone::drill
