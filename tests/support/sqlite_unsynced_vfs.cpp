#include "sqlite_unsynced_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <vector>

namespace atone::test {
namespace {

constexpr std::size_t sector = 512;

// One change that is not synced yet: a write, or a cut of the file.
struct change {
  bool cut = false;
  std::size_t offset = 0;  // of the write; the new size of a cut
  std::string bytes;
};

void take_effect(change const& one, std::string& to) {
  if (one.cut) {
    to.resize(one.offset, '\0');
    return;
  }
  if (to.size() < one.offset + one.bytes.size()) to.resize(one.offset + one.bytes.size(), '\0');
  to.replace(one.offset, one.bytes.size(), one.bytes);
}

// One file: what would survive, and what a program sees.
struct content {
  std::string durable;
  std::string seen;
  std::vector<change> unsynced;

  void add(change one) {
    take_effect(one, seen);
    unsynced.push_back(std::move(one));
  }
  void sync() {
    durable = seen;
    unsynced.clear();
  }
  void forget(std::mt19937_64& coins, bool keep_some) {
    for (auto const& one : unsynced) {
      if (keep_some) keep_part(one, coins);
    }
    unsynced.clear();
    seen = durable;
  }
  void keep_part(change const& one, std::mt19937_64& coins) {
    if (one.cut) {
      if (coins() % 2 == 0) take_effect(one, durable);
      return;
    }
    for (std::size_t at = 0; at < one.bytes.size(); at += sector) {
      if (coins() % 2 != 0) continue;
      change part;
      part.offset = one.offset + at;
      part.bytes = one.bytes.substr(at, sector);
      take_effect(part, durable);
    }
  }
};

}  // namespace

class unsynced_disk::implementation {
 public:
  explicit implementation(std::uint64_t seed) : coins(seed), real(sqlite3_vfs_find(nullptr)) {}

  bool dead() const { return !powered; }
  void lose(bool keep_some) {
    for (auto& [path, file] : files) file->forget(coins, keep_some);
    powered = false;
  }
  // True: the sync took effect and power is still there.
  bool sync(content& file) {
    ++syncs;
    bool const last = syncs == fatal_sync;
    if (!last || !fatal_before) file.sync();
    if (last) lose(fatal_keeps_some);
    return powered;
  }

  mutable std::mutex lock;
  std::mt19937_64 coins;
  sqlite3_vfs* real;
  sqlite3_vfs own{};
  std::string name;
  std::map<std::string, std::shared_ptr<content>> files;
  bool powered = true;
  std::uint64_t syncs = 0;
  std::uint64_t fatal_sync = 0;
  bool fatal_before = true;
  bool fatal_keeps_some = false;
};

namespace {

using disk = unsynced_disk::implementation;

// What SQLite allocates for an open file; the real file (for locks and shared memory) lies behind it.
struct open_file {
  sqlite3_file base;
  disk* on;
  std::shared_ptr<content>* file;  // made and dropped by hand: SQLite gives raw memory
  bool has_real;
};

open_file& as_open(sqlite3_file* file) {
  return *reinterpret_cast<open_file*>(file);
}
sqlite3_file* real_of(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(open_file));
}
disk& disk_of(sqlite3_vfs* vfs) {
  return *static_cast<disk*>(vfs->pAppData);
}

int close_file(sqlite3_file* file) {
  auto& self = as_open(file);
  if (self.has_real) real_of(file)->pMethods->xClose(real_of(file));
  delete self.file;
  self.file = nullptr;
  return SQLITE_OK;
}

int read_file(sqlite3_file* file, void* to, int amount, sqlite3_int64 offset) {
  auto& self = as_open(file);
  std::lock_guard const held{self.on->lock};
  if (self.on->dead()) return SQLITE_IOERR_READ;
  std::string const& seen = (*self.file)->seen;
  auto const wanted = static_cast<std::size_t>(amount);
  auto const begin = std::min(seen.size(), static_cast<std::size_t>(offset));
  auto const found = std::min(wanted, seen.size() - begin);
  std::memcpy(to, seen.data() + begin, found);
  std::memset(static_cast<char*>(to) + found, 0, wanted - found);
  return found == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* file, void const* from, int amount, sqlite3_int64 offset) {
  auto& self = as_open(file);
  std::lock_guard const held{self.on->lock};
  if (self.on->dead()) return SQLITE_IOERR_WRITE;
  change one;
  one.offset = static_cast<std::size_t>(offset);
  one.bytes.assign(static_cast<char const*>(from), static_cast<std::size_t>(amount));
  (*self.file)->add(std::move(one));
  return SQLITE_OK;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  auto& self = as_open(file);
  std::lock_guard const held{self.on->lock};
  if (self.on->dead()) return SQLITE_IOERR_TRUNCATE;
  change one;
  one.cut = true;
  one.offset = static_cast<std::size_t>(size);
  (*self.file)->add(std::move(one));
  return SQLITE_OK;
}

int sync_file(sqlite3_file* file, int) {
  auto& self = as_open(file);
  std::lock_guard const held{self.on->lock};
  if (self.on->dead() || !self.on->sync(**self.file)) return SQLITE_IOERR_FSYNC;
  return SQLITE_OK;
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  auto& self = as_open(file);
  std::lock_guard const held{self.on->lock};
  if (self.on->dead()) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>((*self.file)->seen.size());
  return SQLITE_OK;
}

int lock_file(sqlite3_file* file, int level) {
  return as_open(file).has_real ? real_of(file)->pMethods->xLock(real_of(file), level) : SQLITE_OK;
}
int unlock_file(sqlite3_file* file, int level) {
  return as_open(file).has_real ? real_of(file)->pMethods->xUnlock(real_of(file), level) : SQLITE_OK;
}
int check_lock(sqlite3_file* file, int* reserved) {
  *reserved = 0;
  return as_open(file).has_real ? real_of(file)->pMethods->xCheckReservedLock(real_of(file), reserved) : SQLITE_OK;
}
int control_file(sqlite3_file*, int, void*) {
  return SQLITE_NOTFOUND;
}
int sector_size(sqlite3_file*) {
  return static_cast<int>(sector);
}
int characteristics(sqlite3_file*) {
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** where) {
  return real_of(file)->pMethods->xShmMap(real_of(file), region, size, extend, where);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}
void barrier_shared(sqlite3_file* file) {
  real_of(file)->pMethods->xShmBarrier(real_of(file));
}
int unmap_shared(sqlite3_file* file, int remove) {
  return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

sqlite3_io_methods const methods{2,           close_file,     read_file,    write_file,   truncate_file, sync_file,       size_of_file,
                                 lock_file,   unlock_file,    check_lock,   control_file, sector_size,   characteristics, map_shared,
                                 lock_shared, barrier_shared, unmap_shared, nullptr,      nullptr};

int open_real(disk& on, char const* path, sqlite3_file* file, int flags, int* flags_out) {
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_OK;
  int const code = on.real->xOpen(on.real, path, real_of(file), flags, flags_out);
  as_open(file).has_real = code == SQLITE_OK;
  return code;
}

int open_in(sqlite3_vfs* vfs, char const* path, sqlite3_file* file, int flags, int* flags_out) {
  auto& on = disk_of(vfs);
  std::lock_guard const held{on.lock};
  file->pMethods = nullptr;
  if (on.dead()) return SQLITE_CANTOPEN;
  auto& self = as_open(file);
  self.on = &on;
  self.has_real = false;
  if (int const code = open_real(on, path, file, flags, flags_out); code != SQLITE_OK) return code;
  std::shared_ptr<content> found = std::make_shared<content>();
  if (path != nullptr) found = on.files.try_emplace(path, found).first->second;
  self.file = new std::shared_ptr<content>(std::move(found));
  file->pMethods = &methods;
  if (flags_out != nullptr) *flags_out = flags;
  return SQLITE_OK;
}

int remove_in(sqlite3_vfs* vfs, char const* path, int) {
  auto& on = disk_of(vfs);
  std::lock_guard const held{on.lock};
  if (on.dead()) return SQLITE_IOERR_DELETE;
  return on.files.erase(path) == 1 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
}

int access_in(sqlite3_vfs* vfs, char const* path, int, int* there) {
  auto& on = disk_of(vfs);
  std::lock_guard const held{on.lock};
  if (on.dead()) return SQLITE_IOERR_ACCESS;
  auto const found = on.files.find(path);
  *there = found != on.files.end() && !found->second->seen.empty() ? 1 : 0;
  return SQLITE_OK;
}

int full_path(sqlite3_vfs* vfs, char const* path, int size, char* to) {
  return disk_of(vfs).real->xFullPathname(disk_of(vfs).real, path, size, to);
}
int randomness(sqlite3_vfs* vfs, int size, char* to) {
  return disk_of(vfs).real->xRandomness(disk_of(vfs).real, size, to);
}
int pause(sqlite3_vfs* vfs, int microseconds) {
  return disk_of(vfs).real->xSleep(disk_of(vfs).real, microseconds);
}
int current_time(sqlite3_vfs* vfs, double* to) {
  return disk_of(vfs).real->xCurrentTime(disk_of(vfs).real, to);
}
int last_error(sqlite3_vfs*, int, char*) {
  return 0;
}
int current_time_64(sqlite3_vfs* vfs, sqlite3_int64* to) {
  return disk_of(vfs).real->xCurrentTimeInt64(disk_of(vfs).real, to);
}

void fill(sqlite3_vfs& own, disk& of) {
  own.iVersion = 2;
  own.szOsFile = static_cast<int>(sizeof(open_file)) + of.real->szOsFile;
  own.mxPathname = of.real->mxPathname;
  own.zName = of.name.c_str();
  own.pAppData = &of;
  own.xOpen = open_in;
  own.xDelete = remove_in;
  own.xAccess = access_in;
  own.xFullPathname = full_path;
  own.xRandomness = randomness;
  own.xSleep = pause;
  own.xCurrentTime = current_time;
  own.xGetLastError = last_error;
  own.xCurrentTimeInt64 = current_time_64;
}

}  // namespace

unsynced_disk::unsynced_disk(std::uint64_t seed) : implementation_(std::make_unique<implementation>(seed)) {
  auto& of = *implementation_;
  of.name = "atone-unsynced-" + std::to_string(reinterpret_cast<std::uintptr_t>(&of));
  fill(of.own, of);
  sqlite3_vfs_register(&of.own, 0);
}

unsynced_disk::~unsynced_disk() {
  sqlite3_vfs_unregister(&implementation_->own);
}

std::string const& unsynced_disk::vfs_name() const {
  return implementation_->name;
}

void unsynced_disk::lose_power_at_sync(std::uint64_t number, bool before, remains what) {
  std::lock_guard const held{implementation_->lock};
  implementation_->fatal_sync = number;
  implementation_->fatal_before = before;
  implementation_->fatal_keeps_some = what == remains::some;
}

void unsynced_disk::lose_power(remains what) {
  std::lock_guard const held{implementation_->lock};
  implementation_->lose(what == remains::some);
}

void unsynced_disk::restore_power() {
  std::lock_guard const held{implementation_->lock};
  implementation_->powered = true;
  implementation_->fatal_sync = 0;
}

bool unsynced_disk::has_power() const {
  std::lock_guard const held{implementation_->lock};
  return implementation_->powered;
}

std::uint64_t unsynced_disk::syncs() const {
  std::lock_guard const held{implementation_->lock};
  return implementation_->syncs;
}

}  // namespace atone::test
