// The real clock, randomness and ids: the only place that reads them.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>

#include <atone/environment.hpp>

namespace atone::library {

// Microseconds of CLOCK_BOOTTIME: goes on while the machine sleeps, never set by anyone.
duration boot_time();

// Database time, estimated: boot time plus an offset that each commit corrects. Never goes back, and never stands still: where the
// database's clock was set back, this one goes at half its pace until they agree, so that timers fire. Thread-safe.
class database_clock final : public clock_source {
 public:
  static constexpr duration back_max = std::chrono::milliseconds{100};  // by one commit, at most

  explicit database_clock(timestamp database_now, duration (*boot)() = boot_time)
      : boot_(boot), offset_((database_now.time_since_epoch() - boot()).count()), observed_(boot().count()) {}

  timestamp now() override;
  // The database said `at` somewhere between the two boot times. From one thread at a time.
  void observe(timestamp at, duration asked, duration answered);

 private:
  duration (*boot_)();
  std::atomic<std::int64_t> offset_;
  std::atomic<std::int64_t> observed_;  // boot time of the newest observation
  std::atomic<std::int64_t> newest_{0};
};

// What the machine's wall clock says: for comparing it, never for deciding.
timestamp wall_time();

// The machine's name; what a node is called that was given no name.
std::string host_name();

class system_random final : public random_source {
 public:
  system_random();
  std::uint64_t next() override { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

// 64 hex digits straight from the operating system: a secret must not come from a generator whose other outputs are published
// (saga ids are). Aborts when the system gives none.
std::string secret_key();

// 48 bits of milliseconds, 80 random ones; within a millisecond the last one plus one, so that order is kept.
class time_ordered_ids final : public id_source {
 public:
  explicit time_ordered_ids(random_source& random) : random_(random) {}
  saga_id next_saga(timestamp now) override;

 private:
  random_source& random_;
  saga_id::bytes last_{};
};

}  // namespace atone::library
