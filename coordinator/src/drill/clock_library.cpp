#include "drill/clock_library.hpp"

#include <semaphore.h>
#include <sys/mman.h>

#include <filesystem>
#include <system_error>

namespace atone::drill {
namespace {

namespace fs = std::filesystem;

constexpr auto file = "faketime/libfaketimeMT.so.1";  // the one for programs with threads

}  // namespace

std::string find_clock_library() {
  std::error_code none;
  for (fs::path const folder : {"/usr/lib", "/usr/lib64", "/usr/local/lib"}) {
    if (fs::exists(folder / file, none)) return folder / file;
    for (auto const& machine : fs::directory_iterator{folder, none}) {
      if (fs::exists(machine.path() / file, none)) return machine.path() / file;
    }
  }
  return {};
}

std::string clock_prefix(duration off, std::string const& library) {
  if (off == duration::zero()) return {};
  auto const seconds = std::to_string(std::chrono::duration<double>(off).count());
  return "env LD_PRELOAD='" + library + "' FAKETIME=" + (off < duration::zero() ? "" : "+") + seconds +
         " FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1 ";
}

void forget_clock(int pid) {
  auto const number = std::to_string(pid);
  ::shm_unlink(("/faketime_shm_" + number).c_str());
  ::sem_unlink(("/faketime_sem_" + number).c_str());
}

}  // namespace atone::drill
