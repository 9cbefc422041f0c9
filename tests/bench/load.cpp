#include "load.hpp"

#include <random>
#include <string>

#include "failure.hpp"
#include "workload.hpp"

namespace bench {
namespace {

constexpr auto drain_max = std::chrono::minutes{5};

}  // namespace

void load::keep_in_flight(std::uint32_t count) {
  closed_.store(true);
  for (std::uint32_t each = 0; each < count; ++each) launch(steady::now());
}

void load::arrive(double a_second, steady::duration for_time, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::exponential_distribution<double> gap{a_second};
  auto const from = steady::now();
  auto planned = from;
  for (;;) {
    planned += std::chrono::duration_cast<steady::duration>(std::chrono::duration<double>{gap(random)});
    if (planned - from >= for_time) return;
    if (planned > steady::now()) clock_.pause_until(planned);
    launch(planned);
    check();
  }
}

void load::launch(steady::time_point planned) {
  work_item what;
  what.number = begun_.fetch_add(1, std::memory_order_relaxed) + 1;
  what.input = input_of(what.number);
  under_way_.fetch_add(1);
  on_.run_saga(std::move(what), [this, planned](outcome how) { finished(planned, how); });
}

void load::finished(steady::time_point planned, outcome how) {
  if (how == outcome::ended) {
    ended_.fetch_add(1, std::memory_order_relaxed);
    if (in_window(planned)) latencies_.add(steady::now() - planned);
  } else {
    (how == outcome::turned_away ? turned_away_ : failed_).fetch_add(1);
  }
  // A closed loop that is turned away would spin: it ends, and drain() says why.
  bool const next = closed_.load(std::memory_order_relaxed) && how == outcome::ended && !draining_.load();
  if (next) launch(steady::now());
  if (under_way_.fetch_sub(1) == 1 && draining_.load()) empty_.ring();
}

void load::begin_window() noexcept {
  window_from_.store(steady::now().time_since_epoch().count());
  window_to_.store(steady::time_point::max().time_since_epoch().count());
}
void load::end_window() noexcept {
  window_to_.store(steady::now().time_since_epoch().count());
}
bool load::in_window(steady::time_point moment) const noexcept {
  auto const at = moment.time_since_epoch().count();
  auto const from = window_from_.load(std::memory_order_relaxed);
  return from != 0 && from <= at && at < window_to_.load(std::memory_order_relaxed);
}

void load::check() const {
  if (failed_.load() > 0) throw failure{std::to_string(failed_.load()) + " sagas failed; the first: " + on_.first_failure()};
}

void load::drain() {
  draining_.store(true);
  if (under_way_.load() > 0 && !clock_.hear(empty_.descriptor(), drain_max)) throw failure{"sagas do not end: " + on_.first_failure()};
  check();
  if (closed_.load() && turned_away() > 0) throw failure{"sagas were turned away: " + on_.first_failure()};
}

}  // namespace bench
