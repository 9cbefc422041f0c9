#include "usage.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <string>

#include "child.hpp"

namespace bench {
namespace {

cpu_time of_ticks(std::uint64_t ticks) {
  static auto const per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return std::chrono::microseconds{static_cast<std::int64_t>(ticks * 1'000'000 / per_second)};
}

// The fields of /proc/PID/stat that come after the name, which may hold anything.
struct process_stat {
  pid_t parent = 0;
  std::uint64_t own_ticks = 0;
  std::uint64_t buried_ticks = 0;  // of children that have ended

  process_stat() = default;
};

process_stat stat_of(std::string const& process) {
  auto const text = file_text("/proc/" + process + "/stat");
  auto const after_name = text.rfind(')');
  process_stat made;
  if (after_name == std::string::npos) return made;
  std::istringstream fields{text.substr(after_name + 1)};
  std::string skipped;
  fields >> skipped >> made.parent;
  for (int field = 5; field < 14; ++field) fields >> skipped;  // numbered as in proc(5)
  std::uint64_t user = 0;
  std::uint64_t kernel = 0;
  std::uint64_t buried_user = 0;
  std::uint64_t buried_kernel = 0;
  fields >> user >> kernel >> buried_user >> buried_kernel;
  made.own_ticks = user + kernel;
  made.buried_ticks = buried_user + buried_kernel;
  return made;
}

std::uint64_t field_of(std::string const& file, std::string const& name) {
  std::istringstream text{file_text(file)};
  for (std::string word; text >> word;) {
    std::uint64_t value = 0;
    if (word == name && text >> value) return value;
  }
  return 0;
}

// Those that run: `visit` is told the process's number and its figures.
template <class Visit>
void for_each_child(pid_t parent, Visit const& visit) {
  for (auto const& entry : std::filesystem::directory_iterator{"/proc"}) {
    auto const name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    auto const found = stat_of(name);
    if (found.parent == parent) visit(name, found);
  }
}

}  // namespace

cpu_time cpu_of_process(pid_t process) {
  auto const found = stat_of(std::to_string(process));
  return of_ticks(found.own_ticks + found.buried_ticks);
}

cpu_time cpu_of_family(pid_t parent) {
  auto sum = cpu_of_process(parent);
  for_each_child(parent, [&](std::string const&, process_stat const& child) { sum += of_ticks(child.own_ticks + child.buried_ticks); });
  return sum;
}

std::uint64_t own_bytes_of_family(pid_t parent) {
  auto const own = [](std::string const& process) { return field_of("/proc/" + process + "/status", "RssAnon:") * 1024; };
  auto sum = own(std::to_string(parent));
  for_each_child(parent, [&](std::string const& name, process_stat const&) { sum += own(name); });
  return sum;
}

cpu_time cpu_of_self() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return std::chrono::seconds{used.ru_utime.tv_sec + used.ru_stime.tv_sec} +
         std::chrono::microseconds{used.ru_utime.tv_usec + used.ru_stime.tv_usec};
}

cpu_time cpu_of_clock(clockid_t thread_clock) {
  timespec used{};
  if (::clock_gettime(thread_clock, &used) != 0) return {};
  return std::chrono::seconds{used.tv_sec} + std::chrono::duration_cast<cpu_time>(std::chrono::nanoseconds{used.tv_nsec});
}

std::uint64_t resident_bytes_of(pid_t process) {
  return field_of("/proc/" + std::to_string(process) + "/status", "VmRSS:") * 1024;
}

std::uint64_t resident_bytes_of_self() {
  return field_of("/proc/self/status", "VmRSS:") * 1024;
}

std::uint64_t descriptors_of(pid_t process) {
  std::error_code gone;
  std::filesystem::directory_iterator all{"/proc/" + std::to_string(process) + "/fd", gone};
  return static_cast<std::uint64_t>(std::distance(begin(all), end(all)));
}

std::uint64_t threads_of(pid_t process) {
  return field_of("/proc/" + std::to_string(process) + "/status", "Threads:");
}

std::uint64_t storage_bytes_of_self() {
  return field_of("/proc/self/io", "write_bytes:");
}

machine_time cpu_of_machine() {
  std::istringstream fields{file_text("/proc/stat")};
  std::string name;
  std::array<std::uint64_t, 8> ticks{};  // user nice system idle iowait irq softirq steal
  fields >> name;
  for (auto& each : ticks) fields >> each;
  machine_time made;
  made.idle = of_ticks(ticks[3] + ticks[4]);
  made.busy = of_ticks(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7]);
  return made;
}

}  // namespace bench
