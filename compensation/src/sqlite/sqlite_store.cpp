#include "sqlite/sqlite_store.hpp"

#include "common/factories.hpp"
#include "common/system_clock.hpp"
#include "sqlite/migrate.hpp"

namespace atone::sqlite {

result<std::unique_ptr<sqlite_store>> sqlite_store::open(settings how, store_clock clock) {
  auto lock = file_lock::take(how.path);
  if (!lock) return lock.error();
  auto own = connection::open(how);
  if (!own) return own.error();
  return std::unique_ptr<sqlite_store>(new sqlite_store{std::move(how), std::move(clock), std::move(*lock), std::move(*own)});
}

result<void> sqlite_store::require_migrated() {
  auto const found = status();
  if (!found) return found.error();
  return require_current(*found, how_.path);
}

result<std::unique_ptr<journal>> sqlite_store::open_journal() {
  if (auto ready = require_migrated(); !ready) return ready.error();
  auto made = connection::open(how_);
  if (!made) return made.error();
  return make_sqlite_journal(std::move(*made), clock_);
}

result<std::unique_ptr<journal_reader>> sqlite_store::open_reader() {
  if (auto ready = require_migrated(); !ready) return ready.error();
  settings reading = how_;
  reading.read_only = true;
  auto made = connection::open(reading);
  if (!made) return made.error();
  return make_sqlite_reader(std::move(*made));
}

result<schema_status> sqlite_store::status() {
  std::lock_guard const held{guard_};
  return read_schema_status(own_);
}

result<void> sqlite_store::migrate() {
  std::lock_guard const held{guard_};
  auto const found = read_schema_status(own_);
  if (!found) return found.error();
  if (found->found > found->expected) return require_current(*found, how_.path);
  return apply_migrations(own_, clock_);
}

std::vector<std::string> sqlite_store::health() {
  std::lock_guard const held{guard_};
  return find_warnings(own_, how_.path);
}

}  // namespace atone::sqlite

namespace atone {

result<std::unique_ptr<store>> open_sqlite_store(std::string const& address) {
  ATONE_ASSERT(address.starts_with(sqlite_scheme));
  sqlite::settings how;
  how.path = address.substr(std::string_view{sqlite_scheme}.size());
  if (how.path.starts_with(":")) {
    return error{errc::invalid_argument, "'" + address + "' names no file; expected sqlite:PATH, or memory: for a store that is not kept"};
  }
  auto made = sqlite::sqlite_store::open(std::move(how), system_time);
  if (!made) return made.error();
  return std::unique_ptr<store>{std::move(*made)};
}

}  // namespace atone
