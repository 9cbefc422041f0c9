// Rows a second of the feature engine, by CPU seconds of this process:   feature_bench [CUSTOMERS] [ROUNDS] [THREADS] [FOLDER]
// With FOLDER the log's columns are written there as 64-bit integers, for peers.py.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <string>

#include <atone/features/engine.hpp>

#include "shop_log.hpp"

namespace {

using namespace atone::features;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The best of some rounds: what the machine's other users add is left out as far as it can be.
void measure(char const* what, std::size_t rows, int rounds, std::function<void()> const& work) {
  double best_cpu = std::numeric_limits<double>::max();
  double best_wall = best_cpu;
  for (int round = 0; round < rounds; ++round) {
    auto const wall = std::chrono::steady_clock::now();
    auto const cpu = cpu_seconds();
    work();
    best_cpu = std::min(best_cpu, cpu_seconds() - cpu);
    best_wall = std::min(best_wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count());
  }
  std::printf("%-28s %8.3f CPU s %8.3f s %8.1f M rows/CPU s\n", what, best_cpu, best_wall, static_cast<double>(rows) * 1e-6 / best_cpu);
}

std::uint64_t checksum(feature_table const& table) {
  std::uint64_t sum = 0;
  for (auto const& column : table.columns) {
    for (std::size_t at = 0; at < table.rows * column.lanes; ++at)
      sum = (sum ^ static_cast<std::uint64_t>(column.cells[at])) * 0x9E3779B97F4A7C15ULL;
  }
  return sum;
}

void write_columns(feature_set const& set, event_table const& table, std::string const& folder) {
  for (std::size_t at = 0; at < set.columns.size(); ++at) {
    auto const& values = table.columns[at].values;
    std::ofstream out{folder + "/" + set.columns[at].name + ".i64", std::ios::binary};
    out.write(reinterpret_cast<char const*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof values[0]));
  }
}

// What a saga's step asks for: one user of ten events, from rows to JSON.
void compute_one(feature_engine const& engine, atone::timestamp at) {
  event_table table{engine.set()};
  row_appender appender{engine.set(), table};
  for (std::int64_t id = 0; id < 10; ++id) {
    cell const cells[] = {std::int64_t{7}, id, at.time_since_epoch().count() - id * 1'000'000'000'000, std::int64_t{5} + id, id % 3};
    static_cast<void>(appender.append(cells));
  }
  auto const store = sort_events(engine.set(), table);
  if (!store) return;
  auto const made = engine.as_of(*store, at, at);
  static_cast<void>(to_json(engine.set(), *store, *made, 0, at));
}

// Totals over all entities, to hold against the peers'.
void print_totals(feature_set const& set, feature_table const& table) {
  for (auto const& column : table.columns) {
    auto const what = set.features[column.feature].what;
    if (what != aggregation::count && what != aggregation::sum && what != aggregation::distinct) continue;
    std::int64_t total = 0;
    for (std::size_t row = 0; row < table.rows; ++row) total += column.integer(row);
    std::printf("total %s_%s %lld\n", set.features[column.feature].name.c_str(), set.windows[column.window].name.c_str(),
                static_cast<long long>(total));
  }
}

}  // namespace

int main(int count, char** arguments) {
  auto const number = [&](int at, std::size_t preset) { return count > at ? std::strtoull(arguments[at], nullptr, 10) : preset; };
  auto const customers = static_cast<std::uint32_t>(number(1, 2'357'000));
  auto const rounds = static_cast<int>(number(2, 3));
  auto const threads = static_cast<std::size_t>(number(3, 1));
  auto const read = load_feature_set(features_bench::set_yaml);
  if (!read.ok()) return 1;
  auto const table = features_bench::make_log(*read.set, customers, 1997);
  feature_engine const engine{read.set};
  auto const at = features_bench::end_of_log();
  auto store = sort_events(*read.set, table);
  if (!store) return 1;
  std::printf("%zu rows, %zu customers, %zu threads\n", store->rows(), store->entities.size(), threads);
  measure("sort (shuffled rows)", table.rows(), rounds, [&] { store = sort_events(*read.set, table); });
  if (count > 4) write_columns(*read.set, table, arguments[4]);
  std::uint64_t sum = 0;
  measure("as-of (sorted store)", store->rows(), rounds, [&] {
    auto const made = engine.as_of(*store, at, at, on_threads(threads));
    if (sum == 0) sum = checksum(*made);
  });
  measure("both", table.rows(), rounds, [&] {
    auto const sorted = sort_events(*read.set, table);
    static_cast<void>(engine.as_of(*sorted, at, at, on_threads(threads)));
  });
  measure("per event", store->rows(), rounds, [&] { static_cast<void>(engine.per_event(*store, on_threads(threads))); });
  measure("1,000 times one user", 10'000, 10 * rounds, [&] {
    for (int time = 0; time < 1'000; ++time) compute_one(engine, at);
  });
  print_totals(*read.set, *engine.as_of(*store, at, at));
  std::printf("checksum %016llx\n", static_cast<unsigned long long>(sum));
  return 0;
}
