#include "sqlite/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace atone::sqlite {
namespace {

std::string lock_path(std::string const& database_path) {
  std::error_code ignored;
  auto const real = std::filesystem::weakly_canonical(database_path, ignored);
  return (ignored ? database_path : real.string()) + ".lock";
}

// Only for the message: the lock itself is the kernel's.
std::string holder_of(int descriptor) {
  std::array<char, 24> text{};
  auto const size = ::pread(descriptor, text.data(), text.size() - 1, 0);
  if (size <= 0) return "another process";
  return "process " + std::string{text.data(), static_cast<std::size_t>(size)};
}

void write_holder(int descriptor) {
  auto const text = std::to_string(::getpid());
  if (::ftruncate(descriptor, 0) != 0) return;
  [[maybe_unused]] auto const written = ::pwrite(descriptor, text.data(), text.size(), 0);
}

}  // namespace

result<file_lock> file_lock::take(std::string const& database_path) {
  auto const path = lock_path(database_path);
  int const descriptor = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    return error{errc::unavailable, database_path + ": can't open its lock file " + path + ": " + std::strerror(errno)};
  }
  file_lock lock{descriptor};
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    write_holder(descriptor);
    return lock;
  }
  if (errno != EWOULDBLOCK) return error{errc::unavailable, database_path + ": can't lock " + path + ": " + std::strerror(errno)};
  return error{errc::conflict, database_path + " is in use by " + holder_of(descriptor) + " (it holds " + path +
                                   "); a SQLite store has one process at a time: ask that one through its API, or stop it first"};
}

file_lock::file_lock(file_lock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

file_lock::~file_lock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace atone::sqlite
