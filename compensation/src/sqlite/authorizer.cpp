#include "sqlite/authorizer.hpp"

#include <sqlite3.h>

#include <string_view>

namespace atone::sqlite {
namespace {

bool is_ours(char const* thing) noexcept {
  return thing != nullptr && sqlite3_strnicmp(thing, "atone_", 6) == 0;
}

// What changes a table, or what happens to it: for some of these the table is the first name, for others the second.
bool writes(int action) noexcept {
  switch (action) {
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_VIEW:
    case SQLITE_CREATE_INDEX:
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_CREATE_TEMP_TRIGGER:
    case SQLITE_ALTER_TABLE:
    case SQLITE_DROP_TABLE:
    case SQLITE_DROP_INDEX:
    case SQLITE_DROP_TRIGGER: return true;
    default: return false;
  }
}

std::string_view words(int action) noexcept {
  switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT: return "transaction control (the transaction is Atone's)";
    case SQLITE_ATTACH:
    case SQLITE_DETACH: return "ATTACH and DETACH";
    case SQLITE_PRAGMA: return "PRAGMA";
    default: return "writing Atone's own tables";
  }
}

}  // namespace

authorizer::authorizer(connection& on) {
  sqlite3_set_authorizer(on.handle(), decide, this);
}

error authorizer::explain(error why) const {
  if (denied_.empty()) return why;
  return error{errc::bad_data, denied_ + " is not allowed here"};
}

int authorizer::decide(void* self, int action, char const* first, char const* second, char const*, char const*) noexcept {
  auto* const guard = static_cast<authorizer*>(self);
  if (guard->allowed(action, first, second)) return SQLITE_OK;
  guard->denied_ = words(action);
  return SQLITE_DENY;
}

bool authorizer::allowed(int action, char const* first, char const* second) const noexcept {
  if (rule_ == rule::none) return true;
  switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ATTACH:
    case SQLITE_DETACH: return false;
    case SQLITE_PRAGMA: return rule_ == rule::participant;
    default: return rule_ == rule::participant || !writes(action) || !(is_ours(first) || is_ours(second));
  }
}

}  // namespace atone::sqlite
