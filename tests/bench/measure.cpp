#include "measure.hpp"

#include <algorithm>
#include <cstdio>

#include "daemon_target.hpp"
#include "embedded_target.hpp"
#include "failure.hpp"

namespace bench {
namespace {

constexpr auto warm_up_max = std::chrono::seconds{30};
constexpr auto look_every = std::chrono::milliseconds{20};

// Where everything stands at one moment.
struct reading {
  steady::time_point at;
  std::uint64_t ended = 0;
  std::uint64_t events = 0;
  std::uint64_t deleted = 0;
  cpu_time self{};
  cpu_time load{};  // this thread: it makes the arrivals of an open loop
  cpu_time loop{};
  cpu_time daemon{};
  std::map<std::string, cpu_time> peer;
  cpu_time participants{};
  cpu_time postgresql{};
  machine_time machine;

  reading() = default;
};

// What the store has been written, at one moment without clients.
struct written {
  std::uint64_t commits = 0;
  std::uint64_t bytes = 0;

  written() = default;
};

written written_to(stage& on, place const& in) {
  written made;
  if (in.kind == store_kind::postgresql) {
    made.commits = on.postgresql().commits_of(in.database);
    made.bytes = on.postgresql().wal_position();
  } else if (in.kind == store_kind::sqlite) {
    made.bytes = storage_bytes_of_self();
  }
  return made;
}

double over(double what, double by) {
  return by > 0 ? what / by : 0;
}
double microseconds(cpu_time of) {
  return static_cast<double>(of.count());
}

// One run, from an empty store to the figures.
class run {
 public:
  run(stage& on, case_settings of)
      : on_(on), settings_(std::move(of)), in_(settings_.in ? *settings_.in : on_.make_place(settings_.store)) {}

  case_figures figures() {
    auto const before = written_to(on_, in_);
    open_target();
    std::fprintf(stderr, "bench: %s\n", settings_.name.c_str());
    load of{on_.clock(), *target_};
    put_load(of);
    fill_engine_figures();
    close_target();
    auto const after = written_to(on_, in_);
    fill_latencies(of);
    fill_window();
    if (in_.kind == store_kind::own) return made_;
    auto const sagas = static_cast<double>(made_.sagas);
    auto const commits = in_.kind == store_kind::postgresql ? after.commits - before.commits : engine_commits_;
    made_.commits_per_saga = over(static_cast<double>(commits), sagas);
    made_.wal_bytes_per_saga = over(static_cast<double>(after.bytes - before.bytes), sagas);
    return made_;
  }

 private:
  void open_target() {
    if (settings_.peer) {
      peer_ = std::make_unique<peer_target>(on_.clock(), settings_.peer());
      target_ = peer_.get();
      return;
    }
    if (settings_.by_daemon) {
      daemon_ = std::make_unique<daemon_target>(on_, in_, settings_.refused, on_.options().keys);
      target_ = daemon_.get();
      return;
    }
    embedded_options with;
    with.coordinator.store = in_.address;
    with.coordinator.handler_threads = on_.options().handler_threads;
    with.coordinator.addresses = on_.addresses();
    with.coordinator.retention = settings_.retention;
    with.to = settings_.to;
    with.refused = settings_.refused;
    with.keys = on_.options().keys;
    embedded_ = std::make_unique<embedded_target>(std::move(with));
    target_ = embedded_.get();
  }

  // Closing is part of the run: only then has the store told everything.
  void close_target() {
    if (embedded_) embedded_->stop();
    embedded_.reset();
    daemon_.reset();
    peer_.reset();
    target_ = nullptr;
  }

  void put_load(load& of) {
    auto const& with = on_.options();
    auto const warm_up = settings_.warm_up.value_or(with.warm_up);
    if (settings_.rate) {
      of.arrive(*settings_.rate, warm_up, with.seed);
    } else {
      of.keep_in_flight(settings_.in_flight);
      on_.clock().pause(warm_up);
      auto const until = steady::now() + warm_up_max;
      while (of.ended() < settings_.warm_up_sagas && steady::now() < until) on_.clock().pause(look_every);
    }
    of.check();
    from_ = read(of);
    of.begin_window();
    if (settings_.rate) {
      of.arrive(*settings_.rate, with.window, with.seed + 1);
    } else {
      on_.clock().pause(with.window);
    }
    of.end_window();
    to_ = read(of);
    of.drain();
  }

  reading read(load const& of) {
    reading made;
    if (embedded_) made.events = embedded_->figures().events;
    if (embedded_) made.deleted = embedded_->deletions().deleted_sagas;
    if (embedded_) made.loop = cpu_of_clock(embedded_->loop_clock());
    if (daemon_) made.daemon = cpu_of_process(daemon_->pid());
    if (peer_) made.peer = peer_->cpu();
    made.self = cpu_of_self();
    made.load = cpu_of_clock(CLOCK_THREAD_CPUTIME_ID);
    made.participants = on_.cpu_of_participants();
    made.postgresql = on_.cpu_of_postgresql();
    made.machine = cpu_of_machine();
    made.at = steady::now();
    made.ended = of.ended();
    return made;
  }

  void fill_engine_figures() {
    if (!embedded_) return;
    auto const engine = embedded_->figures();
    engine_commits_ = engine.commits;
    made_.records_per_commit = over(static_cast<double>(engine.events), static_cast<double>(engine.commits));
    auto const events = static_cast<double>(to_.events - from_.events);
    made_.loop_us_per_event = over(microseconds(to_.loop - from_.loop), events);
  }

  void fill_latencies(load const& of) {
    made_.name = settings_.name;
    made_.offered_per_s = settings_.rate;
    made_.sagas = of.ended();
    made_.turned_away = of.turned_away();
    made_.p50_ms = milliseconds(of.latencies().quantile(0.5));
    made_.p99_ms = milliseconds(of.latencies().quantile(0.99));
    made_.p999_ms = milliseconds(of.latencies().quantile(0.999));
  }

  void fill_window() {
    auto const ended = static_cast<double>(to_.ended - from_.ended);
    auto const window = std::chrono::duration<double>{to_.at - from_.at}.count();
    made_.sagas_per_s = over(ended, window);
    if (settings_.retention.count() > 0) made_.deleted_per_s = over(static_cast<double>(to_.deleted - from_.deleted), window);
    auto& cpu = made_.cpu_us_per_saga;
    auto const self = to_.self - from_.self;
    auto const load = to_.load - from_.load;
    auto const loop = to_.loop - from_.loop;
    auto others = to_.daemon - from_.daemon;
    for (auto const& [part, used] : to_.peer) {
      cpu[part] = over(microseconds(used - from_.peer[part]), ended);
      others += used - from_.peer[part];
    }
    if (settings_.peer || settings_.by_daemon) {
      cpu["load"] = over(microseconds(self), ended);
      if (settings_.by_daemon) cpu["daemon"] = over(microseconds(to_.daemon - from_.daemon), ended);
    } else {
      cpu["loop"] = over(microseconds(loop), ended);
      cpu["writer_and_handlers"] = over(microseconds(self - loop - load), ended);
      if (settings_.rate) cpu["load"] = over(microseconds(load), ended);
    }
    if (settings_.to == callee::http) cpu["participants"] = over(microseconds(to_.participants - from_.participants), ended);
    if (in_.kind == store_kind::postgresql) cpu["postgresql"] = over(microseconds(to_.postgresql - from_.postgresql), ended);
    fill_machine(self + others + (to_.participants - from_.participants) + (to_.postgresql - from_.postgresql));
  }

  void fill_machine(cpu_time ours) {
    auto const busy = microseconds(to_.machine.busy - from_.machine.busy);
    auto const idle = microseconds(to_.machine.idle - from_.machine.idle);
    made_.idle_percent = over(100 * idle, busy + idle);
    made_.others_percent = std::max(0.0, over(100 * (busy - microseconds(ours)), busy + idle));
  }

  stage& on_;
  case_settings settings_;
  place in_;
  std::unique_ptr<embedded_target> embedded_;
  std::unique_ptr<daemon_target> daemon_;
  std::unique_ptr<peer_target> peer_;
  target* target_ = nullptr;
  reading from_;
  reading to_;
  std::uint64_t engine_commits_ = 0;
  case_figures made_;
};

}  // namespace

case_figures measure(stage& on, case_settings const& of) {
  return run{on, of}.figures();
}

}  // namespace bench
