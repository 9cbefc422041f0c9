#include "common/factories.hpp"

namespace atone {

result<std::unique_ptr<store>> open_sqlite_store(std::string const& address) {
  return error{errc::unsupported, address + ": the SQLite store is not part of this build yet"};
}

result<std::unique_ptr<participant::participant_database>> open_sqlite_database(std::string const& address) {
  return error{errc::unsupported, address + ": the SQLite barrier is not part of this build yet"};
}

std::string_view sqlite_barrier_sql() {
  return {};
}

}  // namespace atone
