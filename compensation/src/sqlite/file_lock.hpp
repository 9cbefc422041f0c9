// One process a file: a lock beside the database that the kernel frees when its holder dies, however it dies.
// Thread rules: take and drop on any one thread.
#pragma once

#include <string>

#include <atone/result.hpp>

namespace atone::sqlite {

class file_lock {
 public:
  // Takes PATH.lock; conflict when someone (this process too) holds it. Links to the file lead to the same lock.
  static result<file_lock> take(std::string const& database_path);
  file_lock(file_lock&& other) noexcept;
  file_lock& operator=(file_lock&&) = delete;
  ~file_lock();

 private:
  explicit file_lock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace atone::sqlite
