#include "sqlite/failure.hpp"

#include <sqlite3.h>

namespace atone::sqlite {
namespace {

std::string path_of(sqlite3* on) {
  char const* const path = on == nullptr ? nullptr : sqlite3_db_filename(on, "main");
  return path == nullptr || *path == '\0' ? std::string{"SQLite"} : std::string{path};
}

}  // namespace

errc kind_of(int code) noexcept {
  if (code == SQLITE_BUSY_SNAPSHOT) return errc::serialization;
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return errc::unavailable;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT:
    case SQLITE_PROTOCOL: return errc::unavailable;
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH: return errc::bad_data;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return errc::corrupt;
    default: return errc::internal;
  }
}

error failure(sqlite3* on, int code, std::string_view doing) {
  // The connection's own text is about its last call; it fits only when that call failed with this code.
  bool const fits = on != nullptr && (sqlite3_extended_errcode(on) == code || (sqlite3_errcode(on) & 0xff) == (code & 0xff));
  std::string message = path_of(on);
  message += ": ";
  message += doing;
  message += ": ";
  message += fits ? sqlite3_errmsg(on) : sqlite3_errstr(code);
  int const system = on == nullptr ? 0 : sqlite3_system_errno(on);
  if ((code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN) {
    message += " (SQLite code " + std::to_string(code) + ", system error " + std::to_string(system) + ")";
  }
  return error{kind_of(code), std::move(message)};
}

error unreadable(sqlite3* on, std::string_view what) {
  return error{errc::corrupt, path_of(on) + ": " + std::string{what}};
}

}  // namespace atone::sqlite
