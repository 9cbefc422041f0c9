// Loaded into a process by LD_PRELOAD: its wall clock is wrong by SKEWED_CLOCK_SECONDS; clocks of durations are as ever.
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <cstdlib>

namespace {

long skew() {
  static long const seconds = [] {
    auto const* const given = std::getenv("SKEWED_CLOCK_SECONDS");
    return given == nullptr ? 0L : std::strtol(given, nullptr, 10);
  }();
  return seconds;
}

}  // namespace

extern "C" int clock_gettime(clockid_t which, timespec* into) noexcept {
  using function = int (*)(clockid_t, timespec*);
  static auto const real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "clock_gettime"));
  int const outcome = real(which, into);
  if (outcome == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) into->tv_sec += skew();
  return outcome;
}

extern "C" int gettimeofday(timeval* into, void*) noexcept {
  timespec now{};
  int const outcome = ::clock_gettime(CLOCK_REALTIME, &now);
  into->tv_sec = now.tv_sec;
  into->tv_usec = now.tv_nsec / 1000;
  return outcome;
}

extern "C" time_t time(time_t* into) noexcept {
  timespec now{};
  static_cast<void>(::clock_gettime(CLOCK_REALTIME, &now));
  if (into != nullptr) *into = now.tv_sec;
  return now.tv_sec;
}
