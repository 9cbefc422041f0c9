// What the feature service costs: appends, one recompute with and without the disk, many at once, reopening.
//   feature_service_bench FOLDER [USERS] [EVENTS A USER]
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <atone/features/service.hpp>

#include "shop_log.hpp"

namespace {

using namespace atone::features;
using moment = std::chrono::steady_clock::time_point;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double since(moment then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

double resident_mib() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

std::unique_ptr<feature_service> open(feature_set_ptr const& set, std::string const& folder, bool is_durable) {
  feature_service_options with;
  with.folder = folder;
  with.now = [] { return std::chrono::time_point_cast<atone::duration>(std::chrono::system_clock::now()); };
  if (!is_durable) with.sync = [](int) { return 0; };
  auto made = feature_service::open(set, with);
  if (made) return *std::move(made);
  std::fprintf(stderr, "%s\n", made.error().message.c_str());
  std::exit(1);
}

// Events of user `user`, a day apart; `first` is the id of the first one.
void add_events(row_appender& to, std::int64_t user, std::int64_t first, std::int64_t count) {
  auto const end = features_bench::end_of_log().time_since_epoch().count();
  for (std::int64_t n = first; n < first + count; ++n) {
    cell const cells[] = {user, n, end - (1000 - n) * 86'400'000'000, std::int64_t{5} + n, n % 3};
    static_cast<void>(to.append(cells));
  }
}

void report(char const* what, std::vector<double>& seconds, double cpu) {
  std::sort(seconds.begin(), seconds.end());
  auto const at = [&](double part) { return seconds[static_cast<std::size_t>(part * static_cast<double>(seconds.size() - 1))] * 1e6; };
  std::printf("%-44s p50 %8.1f us   p99 %8.1f us   CPU %6.1f us each\n", what, at(0.5), at(0.99),
              cpu * 1e6 / static_cast<double>(seconds.size()));
}

recompute_request wish(std::string key, std::int64_t user) {
  recompute_request made;
  made.key = std::move(key);
  made.entity = std::to_string(user);
  made.as_of = features_bench::end_of_log();
  return made;
}

void append_all(feature_service& service, std::int64_t users, std::int64_t events) {
  constexpr std::int64_t users_a_call = 1000;
  auto const begun = std::chrono::steady_clock::now();
  auto const cpu = cpu_seconds();
  for (std::int64_t user = 0; user < users; user += users_a_call) {
    event_table table{service.set()};
    row_appender to{service.set(), table};
    for (auto one = user; one < std::min(users, user + users_a_call); ++one) add_events(to, one, 0, events);
    static_cast<void>(service.append(table));
  }
  auto const rows = static_cast<double>(users * events);
  std::printf("%.0f events appended: %.2f s, %.2f M rows/CPU s, log %.0f bytes a row, resident %.0f bytes a row\n", rows, since(begun),
              rows * 1e-6 / (cpu_seconds() - cpu), static_cast<double>(service.figures().log_bytes) / rows,
              resident_mib() * 1024 * 1024 / rows);
}

void append_singly(feature_service& service, std::int64_t users, std::int64_t events, char const* what) {
  std::vector<double> taken;
  auto const cpu = cpu_seconds();
  for (std::int64_t n = 0; n < std::min<std::int64_t>(users, 2000); ++n) {
    event_table table{service.set()};
    row_appender to{service.set(), table};
    add_events(to, n * 7919 % users, events, 1);
    auto const begun = std::chrono::steady_clock::now();
    static_cast<void>(service.append(table));
    taken.push_back(since(begun));
  }
  report(what, taken, cpu_seconds() - cpu);
}

void recompute_singly(feature_service& service, std::string const& keys, std::int64_t users, int count, char const* what) {
  std::vector<double> taken;
  auto const cpu = cpu_seconds();
  for (int n = 0; n < count; ++n) {
    auto const begun = std::chrono::steady_clock::now();
    static_cast<void>(service.recompute(wish(keys + std::to_string(n), n * 7919LL % users)));
    taken.push_back(since(begun));
  }
  report(what, taken, cpu_seconds() - cpu);
}

// `together` are under way at any time.
void recompute_many(feature_service& service, std::string const& keys, std::int64_t users, int count, int together) {
  std::mutex guard;
  std::condition_variable changed;
  int under_way = 0;
  auto const before = service.figures();
  auto const begun = std::chrono::steady_clock::now();
  auto const cpu = cpu_seconds();
  for (int n = 0; n < count; ++n) {
    std::unique_lock held{guard};
    changed.wait(held, [&] { return under_way < together; });
    ++under_way;
    held.unlock();
    service.async_recompute(wish(keys + std::to_string(n), n * 7919LL % users), [&](auto const&) {
      std::lock_guard const lock{guard};
      --under_way;
      changed.notify_one();
    });
  }
  std::unique_lock held{guard};
  changed.wait(held, [&] { return under_way == 0; });
  auto const took = since(begun);
  auto const after = service.figures();
  std::printf("%4d under way: %8.0f recomputes/s, %6.1f us CPU each, %5.1f a commit, %5.1f a batch\n", together, count / took,
              (cpu_seconds() - cpu) * 1e6 / count, static_cast<double>(count) / static_cast<double>(after.commits - before.commits),
              static_cast<double>(count) / static_cast<double>(after.batches - before.batches));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return std::fprintf(stderr, "expected the path of a folder that is made for it\n"), 2;
  std::string const folder = arguments[1];
  auto const users = count > 2 ? std::strtoll(arguments[2], nullptr, 10) : 100'000;
  auto const events = count > 3 ? std::strtoll(arguments[3], nullptr, 10) : 10;
  auto const read = load_feature_set(features_bench::set_yaml);
  if (!read.ok()) return 1;
  auto service = open(read.set, folder, false);
  append_all(*service, users, events);
  append_singly(*service, users, events, "one event more, without the disk");
  recompute_singly(*service, "a", users, 20'000, "one recompute, without the disk");
  recompute_many(*service, "b", users, 100'000, 256);
  service.reset();
  auto const begun = std::chrono::steady_clock::now();
  service = open(read.set, folder, true);
  std::printf("opened again: %.2f s for %.1f MiB\n", since(begun), static_cast<double>(service->figures().log_bytes) / 1048576);
  append_singly(*service, users, events + 1, "one event more, durable");
  auto const few = static_cast<int>(std::min<std::int64_t>(users, 2'000));  // a disk may take milliseconds for each
  recompute_singly(*service, "c", users, few, "one recompute, durable");
  for (int const together : {1, 8, 64, 256}) {
    recompute_many(*service, "d" + std::to_string(together) + "-", users, few * (together > 1 ? 8 : 2), together);
  }
  return 0;
}
