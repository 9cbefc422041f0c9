// What processes and the machine have used so far; two readings and their difference make a figure.
// Thread rules: plain functions.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <chrono>
#include <cstdint>

namespace bench {

using cpu_time = std::chrono::microseconds;

// Of one process with the children it has already buried, in ticks of 10 ms. Zero when it is gone.
cpu_time cpu_of_process(pid_t process);
// With the children that still run: a PostgreSQL server and its backends.
cpu_time cpu_of_family(pid_t parent);
cpu_time cpu_of_self();
cpu_time cpu_of_clock(clockid_t thread_clock);
std::uint64_t resident_bytes_of(pid_t process);
std::uint64_t resident_bytes_of_self();
// What is in memory and is no file's: of a process and its children that run. Shared buffers are none of it.
std::uint64_t own_bytes_of_family(pid_t parent);
// Open descriptors, and threads, of one process. Zero when it is gone.
std::uint64_t descriptors_of(pid_t process);
std::uint64_t threads_of(pid_t process);
// What this process has sent to storage, in bytes.
std::uint64_t storage_bytes_of_self();

// The whole machine since its start, over all its cores.
struct machine_time {
  cpu_time busy{};
  cpu_time idle{};

  machine_time() = default;
};
machine_time cpu_of_machine();

}  // namespace bench
