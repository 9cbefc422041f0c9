// A disk that forgets: a file system for SQLite that keeps in memory what was written, and drops whatever was not synced
// when its power is lost. SIGKILL can't show a missing sync, since the kernel keeps the pages of a killed process.
// Locks and shared memory are those of the real file system. Thread rules: callable from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace atone::test {

class unsynced_disk {
 public:
  // What remains of the writes that were not synced.
  enum class remains {
    nothing,
    some,  // each 512-byte sector of each write by the toss of a coin: torn pages, later writes without earlier ones
  };

  // Registers the file system; `seed` tosses the coins.
  explicit unsynced_disk(std::uint64_t seed);
  ~unsynced_disk();
  unsynced_disk(unsynced_disk const&) = delete;
  unsynced_disk& operator=(unsynced_disk const&) = delete;

  std::string const& vfs_name() const;

  // Loses power at the sync with this number (from 1): before it took effect, or after.
  void lose_power_at_sync(std::uint64_t number, bool before, remains what);
  // Loses power now. From then on every access fails.
  void lose_power(remains what);
  void restore_power();
  bool has_power() const;

  // Syncs so far.
  std::uint64_t syncs() const;

  class implementation;

 private:
  std::unique_ptr<implementation> implementation_;
};

}  // namespace atone::test
