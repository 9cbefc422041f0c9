#include "sqlite/authorizer.hpp"

#include <sqlite3.h>

#include <string_view>

namespace atone::sqlite {
namespace {

bool is_ours(char const* table) noexcept {
  return table != nullptr && sqlite3_strnicmp(table, "atone_", 6) == 0;
}

bool writes(int action) noexcept {
  switch (action) {
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_DROP_TABLE:
    case SQLITE_ALTER_TABLE:
    case SQLITE_DROP_INDEX:
    case SQLITE_DROP_TRIGGER:
    case SQLITE_CREATE_TRIGGER: return true;
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

int authorizer::decide(void* self, int action, char const* first, char const*, char const*, char const*) noexcept {
  auto* const guard = static_cast<authorizer*>(self);
  if (guard->allowed(action, first)) return SQLITE_OK;
  guard->denied_ = words(action);
  return SQLITE_DENY;
}

bool authorizer::allowed(int action, char const* first) const noexcept {
  if (rule_ == rule::none) return true;
  switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ATTACH:
    case SQLITE_DETACH: return false;
    case SQLITE_PRAGMA: return rule_ == rule::participant;
    default: return rule_ == rule::participant || !writes(action) || !is_ours(first);
  }
}

}  // namespace atone::sqlite
