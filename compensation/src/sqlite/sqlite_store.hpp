// The SQLite store: one file, one process, one shard. Thread rules: the store from any thread; what it hands out as in
// journal.hpp. Each journal and each reader has a connection of its own; they outlast neither the store nor its lock.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <atone/journal.hpp>

#include "sqlite/connection.hpp"
#include "sqlite/file_lock.hpp"

namespace atone::sqlite {

class sqlite_store final : public store {
 public:
  // Takes the file for this process. conflict: another one has it.
  static result<std::unique_ptr<sqlite_store>> open(settings how, store_clock clock);

  result<std::unique_ptr<journal>> open_journal() override;
  result<std::unique_ptr<journal_reader>> open_reader() override;
  result<schema_status> status() override;
  result<void> migrate() override;
  std::vector<std::string> health() override;
  std::string description() const override { return "sqlite:" + how_.path; }

 private:
  sqlite_store(settings how, store_clock clock, file_lock lock, connection own)
      : how_(std::move(how)), clock_(std::move(clock)), lock_(std::move(lock)), own_(std::move(own)) {}
  result<void> require_migrated();

  settings how_;
  store_clock clock_;
  file_lock lock_;
  std::mutex guard_;  // of own_
  connection own_;
};

// What `doctor` should say of an opened file.
std::vector<std::string> find_warnings(connection& on, std::string const& path);

std::unique_ptr<journal> make_sqlite_journal(connection on, store_clock clock);
std::unique_ptr<journal_reader> make_sqlite_reader(connection on);

}  // namespace atone::sqlite
