// More than the daemon can do, for a while: what it accepts, what it refuses and how, and how soon it is itself again.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "daemon_target.hpp"
#include "failure.hpp"
#include "load.hpp"
#include "report.hpp"

namespace bench {
namespace {

constexpr std::uint32_t usual_in_flight = 256;
constexpr double times_the_capacity = 2;
constexpr std::uint64_t asking_max = 4096;  // starts on their way at once
constexpr double back_share = 0.9;          // of the capacity: itself again
constexpr auto after_max = std::chrono::seconds{30};
constexpr auto sample_every = std::chrono::milliseconds{500};
constexpr auto look_every = std::chrono::milliseconds{20};
constexpr auto end_max = std::chrono::minutes{5};

struct sample {
  double at_s = 0;  // since the first
  daemon_figures of;

  sample() = default;
};

// Looks at the daemon at a steady pace, from a thread of its own, until it is told to stop.
class sampler {
 public:
  explicit sampler(daemon_target const& of) : of_(of), thread_{[this] { run(); }} {}
  ~sampler() { stop(); }
  sampler(sampler const&) = delete;
  sampler& operator=(sampler const&) = delete;

  std::vector<sample> stop() {
    over_.store(true);
    if (thread_.joinable()) thread_.join();
    return samples_;
  }

 private:
  void run() {
    waiter const clock;
    auto const from = steady::now();
    for (auto due = from; !over_.load(); due += sample_every) {
      clock.pause_until(due);
      try {
        sample now;
        now.of = of_.figures();
        now.at_s = std::chrono::duration<double>{steady::now() - from}.count();
        samples_.push_back(now);
      } catch (failure const& why) {
        std::fprintf(stderr, "bench: one look at the daemon is missing: %s\n", why.what());
      }
    }
  }

  daemon_target const& of_;
  std::atomic<bool> over_{false};
  std::vector<sample> samples_;
  std::thread thread_;  // last: it uses the members above
};

// Sagas are started, and not waited for. Callers have an end to their patience too: where so many wait for the daemon's word, one more
// does not ask.
class starts_alone final : public target {
 public:
  explicit starts_alone(daemon_target& on) : on_(on) {}
  void run_saga(work_item what, done then) override {
    if (asking_.fetch_add(1) >= asking_max) {
      ++held_back_;
      --asking_;
      return on_.on_thread([then = std::move(then)] { then(outcome::turned_away); });
    }
    on_.start_saga(std::move(what), [this, then = std::move(then)](outcome how) {
      --asking_;
      then(how);
    });
  }
  std::string first_failure() const override { return on_.first_failure(); }
  std::uint64_t held_back() const noexcept { return held_back_.load(); }

 private:
  daemon_target& on_;
  std::atomic<std::uint64_t> asking_{0};
  std::atomic<std::uint64_t> held_back_{0};
};

double ended_a_second(sample const& from, sample const& to) {
  return static_cast<double>(to.of.completed - from.of.completed) / std::max(0.001, to.at_s - from.at_s);
}

template <class Of>
double highest(std::vector<sample> const& in, Of const& of) {
  double most = 0;
  for (auto const& each : in) most = std::max(most, static_cast<double>(of(each.of)));
  return most;
}

// How long until the rate was back, over spans of a second, and stayed for three; nothing: not within these samples.
std::optional<double> back_after(std::vector<sample> const& after, double wanted) {
  std::size_t good = 0;
  for (std::size_t at = 2; at < after.size(); ++at) {
    good = ended_a_second(after[at - 2], after[at]) >= wanted ? good + 1 : 0;
    if (good == 6) return after[at - 7].at_s;
  }
  return std::nullopt;
}

double closed_loop(stage& on, daemon_target& target) {
  load usual{on.clock(), target};
  usual.keep_in_flight(usual_in_flight);
  on.clock().pause(on.options().warm_up);
  auto const from = usual.ended();
  auto const began = steady::now();
  on.clock().pause(on.options().window);
  auto const rate = static_cast<double>(usual.ended() - from) / std::chrono::duration<double>{steady::now() - began}.count();
  usual.drain();
  return rate;
}

struct figures_of_overload {
  double capacity = 0;
  double rate = 0;
  double accepted = 0;
  double refused = 0;
  double held_back = 0;
  double ended_a_second = 0;
  double answer_p50_ms = 0;
  double answer_p99_ms = 0;
  double open_max = 0;
  double resident_before = 0;
  double resident_max = 0;
  std::optional<double> back_s;
  std::uint64_t lost = 0;

  figures_of_overload() = default;
};

std::uint64_t wait_until_none_is_open(stage& on, daemon_target const& target) {
  auto const until = steady::now() + end_max;
  for (;;) {
    auto const now = target.figures();
    if (now.open == 0) return now.completed;
    if (steady::now() > until) throw failure{std::to_string(now.open) + " accepted sagas do not end"};
    on.clock().pause(sample_every);
  }
}

void wait_for_room(stage& on, daemon_target const& target, double open_before) {
  auto const until = steady::now() + end_max;
  while (static_cast<double>(target.figures().open + 2 * usual_in_flight) > std::max(open_before, 4.0 * usual_in_flight)) {
    if (steady::now() > until) throw failure{"the sagas that were accepted do not end"};
    on.clock().pause(look_every);
  }
}

figures_of_overload measure_overload(stage& on) {
  daemon_target target{on, on.make_place(wanted_store(on.options(), store_kind::postgresql)), false, on.options().keys};
  figures_of_overload made;
  made.capacity = closed_loop(on, target);
  made.rate = on.options().rate.value_or(times_the_capacity * made.capacity);
  auto const before = target.figures();
  made.resident_before = static_cast<double>(before.resident_bytes);

  starts_alone starts{target};
  load much{on.clock(), starts};
  much.begin_window();
  sampler during{target};
  much.arrive(made.rate, on.options().overload, on.options().seed);
  auto const seen = during.stop();
  if (seen.size() < 2) throw failure{"the daemon's metrics did not come while it was busy"};
  sampler afterwards{target};
  much.drain();
  // The usual load again, beside what is still under way, as soon as there is room for it.
  made.open_max = highest(seen, [](daemon_figures const& of) { return of.open; });
  wait_for_room(on, target, made.open_max);
  load usual{on.clock(), target};
  usual.keep_in_flight(usual_in_flight);
  on.clock().pause(std::min<steady::duration>(after_max, 4 * on.options().window));
  auto const after = afterwards.stop();
  usual.drain();

  made.accepted = static_cast<double>(much.ended());
  made.held_back = static_cast<double>(starts.held_back());
  made.refused = static_cast<double>(much.turned_away()) - made.held_back;
  made.ended_a_second = ended_a_second(seen.front(), seen.back());
  made.answer_p50_ms = milliseconds(much.latencies().quantile(0.5));
  made.answer_p99_ms = milliseconds(much.latencies().quantile(0.99));
  made.resident_max = std::max(highest(seen, [](daemon_figures const& of) { return of.resident_bytes; }),
                               highest(after, [](daemon_figures const& of) { return of.resident_bytes; }));
  made.back_s = back_after(after, back_share * made.capacity);
  auto const completed = wait_until_none_is_open(on, target);
  auto const wanted = before.completed + much.ended() + usual.ended();
  if (completed < wanted) made.lost = wanted - completed;
  return made;
}

}  // namespace

void overload(stage& on) {
  auto const of = measure_overload(on);
  auto const seconds = std::chrono::duration<double>{on.options().overload}.count();
  constexpr double mebibyte = 1024 * 1024;
  table shown{{"figure", "value"}};
  shown.add({"closed loop before, 256 in flight, sagas/s", figure(of.capacity)});
  shown.add({"starts asked for, a second, for " + figure(seconds) + " s", figure(of.rate)});
  shown.add({"accepted a second", figure(of.accepted / seconds)});
  shown.add({"refused a second, each 429 or 503 with Retry-After", figure(of.refused / seconds)});
  shown.add({"not asked a second, since 4,096 waited for an answer", figure(of.held_back / seconds)});
  shown.add({"sagas ended a second meanwhile", figure(of.ended_a_second)});
  shown.add({"answer to a start accepted, p50 ms", figure(of.answer_p50_ms)});
  shown.add({"answer to a start accepted, p99 ms", figure(of.answer_p99_ms)});
  shown.add({"sagas open, at most", figure(of.open_max)});
  shown.add({"resident memory before, MiB", figure(of.resident_before / mebibyte)});
  shown.add({"resident memory, at most, MiB", figure(of.resident_max / mebibyte)});
  shown.add({"0.9 of the closed loop's rate again after s", of.back_s ? figure(*of.back_s) : "not seen"});
  shown.add({"accepted sagas that did not end", figure(static_cast<double>(of.lost))});
  std::printf("%s\n%s\n", machine_text(on).c_str(), shown.text().c_str());

  atone::json::writer document;
  begin_document(document, on.options());
  document.key("capacity_sagas_per_s").number(of.capacity).key("asked_per_s").number(of.rate);
  document.key("accepted_per_s").number(of.accepted / seconds).key("refused_per_s").number(of.refused / seconds);
  document.key("held_back_per_s").number(of.held_back / seconds);
  document.key("ended_per_s").number(of.ended_a_second).key("open_max").number(of.open_max);
  document.key("answer_p50_ms").number(of.answer_p50_ms).key("answer_p99_ms").number(of.answer_p99_ms);
  document.key("resident_bytes_before").number(of.resident_before).key("resident_bytes_max").number(of.resident_max);
  document.key("back_after_s");
  of.back_s ? document.number(*of.back_s) : document.null();
  document.key("lost").number(of.lost);
  finish_document(document, on);
  if (of.lost > 0) throw failure{std::to_string(of.lost) + " accepted sagas did not end"};
}

}  // namespace bench
