// What can be wrong with a file that still opens: settings, damage, a disk that is full or forgets.
#include <sys/vfs.h>

#include <array>
#include <filesystem>

#include "sqlite/sqlite_store.hpp"

namespace atone::sqlite {
namespace {

constexpr std::uintmax_t free_bytes_min = 512ull * 1024 * 1024;
constexpr std::int64_t synchronous_full = 2;

result<std::string> pragma(connection& on, std::string_view name) {
  auto row = on.prepare("PRAGMA " + std::string{name});
  if (!row) return row.error();
  auto const found = row->step();
  if (!found) return found.error();
  return *found ? row->take_text() : std::string{};
}

void check_settings(connection& on, std::vector<std::string>& warnings) {
  auto const mode = pragma(on, "journal_mode");
  if (!mode || *mode != "wal") {
    warnings.push_back("journal_mode is '" + (mode ? *mode : mode.error().message) + "'; expected wal");
  }
  auto const synced = pragma(on, "synchronous");
  if (!synced || synced->empty() || std::stoll(*synced) < synchronous_full) {
    warnings.push_back("synchronous is below FULL: a power loss can lose sagas that were answered");
  }
}

void check_content(connection& on, std::vector<std::string>& warnings) {
  auto const found = pragma(on, "quick_check(1)");
  if (!found) {
    warnings.push_back("quick_check failed: " + found.error().message);
  } else if (*found != "ok") {
    warnings.push_back("the file is damaged: quick_check says '" + *found + "'; restore it from a backup");
  }
}

struct file_system {
  long magic;
  std::string_view warning;
};
// Numbers of statfs(2).
constexpr std::array doubtful{
    file_system{0x01021994, "lies on tmpfs, in memory: nothing survives a restart of the machine"},
    file_system{0x6969, "lies on NFS: SQLite's locks and log are not safe there"},
};

void check_place(std::string const& path, std::vector<std::string>& warnings) {
  std::error_code failed;
  auto const folder = std::filesystem::absolute(path, failed).parent_path();
  auto const space = std::filesystem::space(folder, failed);
  if (!failed && space.available < free_bytes_min) {
    warnings.push_back("only " + std::to_string(space.available / (1024 * 1024)) + " MiB are free on the disk of " + path +
                       "; expected at least " + std::to_string(free_bytes_min / (1024 * 1024)));
  }
  struct statfs kind{};
  if (::statfs(folder.c_str(), &kind) != 0) return;
  for (auto const& known : doubtful) {
    if (static_cast<long>(kind.f_type) == known.magic) warnings.push_back(path + " " + std::string{known.warning});
  }
}

}  // namespace

std::vector<std::string> find_warnings(connection& on, std::string const& path) {
  std::vector<std::string> warnings;
  check_settings(on, warnings);
  check_content(on, warnings);
  check_place(path, warnings);
  return warnings;
}

}  // namespace atone::sqlite
