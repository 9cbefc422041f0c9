// Sagas that wait long: what the process keeps of them, and what those that run notice when very many wake up in one second.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <memory>

#include "commands.hpp"
#include "embedded_target.hpp"
#include "failure.hpp"
#include "load.hpp"
#include "report.hpp"

namespace bench {
namespace {

constexpr std::uint64_t count_default = 1'000'000;
constexpr std::uint64_t woken_share = 10;  // of them, one in so many wakes up while others run
constexpr std::uint64_t asking_max = 1024;
constexpr std::uint32_t usual_in_flight = 256;
constexpr std::time_t long_wait = 3600;  // seconds; the longest that a participant may ask for
constexpr std::time_t until_they_wake = 120;
constexpr auto before_they_wake = std::chrono::seconds{3};
constexpr auto look_every = std::chrono::milliseconds{5};
constexpr auto phase_max = std::chrono::minutes{20};
constexpr double megabyte = 1024.0 * 1024.0;
constexpr char const* saga = "waiting";

double resident_mb() {
  return static_cast<double>(resident_bytes_of_self()) / megabyte;
}

// The usual saga, whose first step is told to come again later.
std::string waiting_definition() {
  auto text = definition_text(callee::http, false);
  auto const replace = [&](std::string_view what, std::string_view with) {
    auto const at = text.find(what);
    if (at == std::string::npos) throw failure{"the usual definition has no '" + std::string{what} + "'"};
    text.replace(at, what.size(), with);
  };
  replace("saga: " + saga_name(callee::http, false), std::string{"saga: "} + saga);
  replace("required: [order,", "required: [due, order,");
  replace("properties:\n", "properties:\n    due: {type: integer}\n");
  replace("POST /reserve", "POST /later/{due}");
  replace("in: {order: =input.order,", "in: {due: =input.due, order: =input.order,");
  return text;
}

// Starts them all, and returns when each of them rests.
void start_waiting(stage const& on, atone::coordinator& sagas, std::uint64_t count, std::time_t due) {
  auto const asking = std::make_shared<std::atomic<std::uint64_t>>(0);
  auto const refused = std::make_shared<std::atomic<std::uint64_t>>(0);
  auto const wanted = sagas.figures().resting + count;
  for (std::uint64_t number = 1; number <= count; ++number) {
    while (asking->load() >= asking_max) on.clock().pause(std::chrono::milliseconds{1});
    atone::start_request what;
    what.saga = saga;
    what.input = R"({"due":)" + std::to_string(due) + ',' + input_of(number).substr(1);
    ++*asking;
    sagas.async_start(std::move(what), [asking, refused](atone::result<atone::started> const& begun) {
      *refused += begun ? 0 : 1;
      --*asking;
    });
    if (refused->load() > 0) throw failure{"a start was refused"};
  }
  auto const until = steady::now() + phase_max;
  while (sagas.figures().resting < wanted) {
    if (steady::now() > until) throw failure{"not all sagas come to rest"};
    on.clock().pause(look_every);
  }
}

struct run_figures {
  double sagas_per_s = 0;
  double p50_ms = 0;
  double p99_ms = 0;

  run_figures() = default;
};

// The usual load; its window lasts while `during` says so.
template <class During>
run_figures usual_load(stage const& on, embedded_target& target, steady::duration warm_up, During const& during) {
  load of{on.clock(), target};
  of.keep_in_flight(usual_in_flight);
  on.clock().pause(warm_up);
  auto const before = of.ended();
  auto const from = steady::now();
  of.begin_window();
  while (during(from)) {
    on.clock().pause(look_every);
    of.check();
  }
  of.end_window();
  run_figures made;
  made.sagas_per_s = static_cast<double>(of.ended() - before) / std::chrono::duration<double>{steady::now() - from}.count();
  of.drain();
  made.p50_ms = milliseconds(of.latencies().quantile(0.5));
  made.p99_ms = milliseconds(of.latencies().quantile(0.99));
  return made;
}

embedded_options options_on(stage const& on, place const& in) {
  embedded_options made;
  made.coordinator.store = in.address;
  made.coordinator.addresses = on.addresses();
  made.to = callee::http;
  return made;
}

}  // namespace

void waiting(stage& on) {
  auto const& with = on.options();
  auto const count = with.count == 0 ? count_default : with.count;
  auto const woken = std::max<std::uint64_t>(1, count / woken_share);
  auto const store = wanted_store(with, store_kind::postgresql);
  auto const in = on.make_place(store);
  auto target = std::make_unique<embedded_target>(options_on(on, in));
  (void)need(target->sagas().publish(waiting_definition()), "publishing the definition");
  auto const for_window = [&](steady::time_point from) { return steady::now() < from + with.window; };
  (void)usual_load(on, *target, with.warm_up, for_window);
  auto const before = resident_mb();
  start_waiting(on, target->sagas(), count, std::time(nullptr) + long_wait);
  auto const resting = resident_mb();

  auto const normal = usual_load(on, *target, with.warm_up, for_window);
  auto const due = std::time(nullptr) + until_they_wake;
  start_waiting(on, target->sagas(), woken, due);
  if (std::time(nullptr) >= due) throw failure{"starting them took longer than their wait"};
  auto const to_due = std::chrono::system_clock::from_time_t(due) - std::chrono::system_clock::now();
  on.clock().pause(std::max<steady::duration>(steady::duration{0}, to_due - before_they_wake));
  double woken_s = 0;
  auto const while_they_wake = usual_load(on, *target, before_they_wake, [&](steady::time_point from) {
    woken_s = std::chrono::duration<double>{steady::now() - from}.count();
    return target->sagas().figures().resting > count || steady::now() < from + with.window;
  });

  target->stop();
  target.reset();
  auto const from = steady::now();
  auto const again = need(atone::coordinator::open(options_on(on, in).coordinator), "opening the coordinator");
  need(again->run(), "driving sagas");
  auto const opened_s = std::chrono::duration<double>{steady::now() - from}.count();
  if (again->figures().resting != count) throw failure{"after the restart " + std::to_string(again->figures().resting) + " rest"};

  std::printf("%s\n%s, %llu sagas wait\n", machine_text(on).c_str(), std::string{name(store)}.c_str(),
              static_cast<unsigned long long>(count));
  table memory{{"", ""}};
  memory.add({"resident before, MB", figure(before)});
  memory.add({"resident with all of them waiting, MB", figure(resting)});
  memory.add({"bytes each", figure((resting - before) * megabyte / static_cast<double>(count))});
  memory.add({"opening the store with them, s", figure(opened_s)});
  table running{{"256 in flight beside them", "sagas/s", "p50 ms", "p99 ms"}};
  running.add({"while they wait", figure(normal.sagas_per_s), figure(normal.p50_ms), figure(normal.p99_ms)});
  running.add({"while " + std::to_string(woken) + " more wake up, due in one second", figure(while_they_wake.sagas_per_s),
               figure(while_they_wake.p50_ms), figure(while_they_wake.p99_ms)});
  auto const ratio = while_they_wake.p99_ms / normal.p99_ms;
  std::printf("%s\n%s\nall of those were awake after %s s; p99 over normal: %s\n", memory.text().c_str(), running.text().c_str(),
              figure(woken_s).c_str(), figure(ratio).c_str());
  atone::json::writer document;
  begin_document(document, with);
  document.key("store").string(name(store)).key("sagas").number(count).key("resident_before_mb").number(before);
  document.key("resident_waiting_mb").number(resting).key("opened_s").number(opened_s).key("woken").number(woken);
  document.key("woken_s").number(woken_s).key("normal_p99_ms").number(normal.p99_ms).key("waking_p99_ms").number(while_they_wake.p99_ms);
  document.key("p99_ratio").number(ratio);
  finish_document(document, on);
}

}  // namespace bench
