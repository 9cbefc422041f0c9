// Dispatch by the scheme of the address.
#include <atone/journal.hpp>

#include "common/address.hpp"
#include "common/factories.hpp"

namespace atone {

result<std::unique_ptr<store>> open_store(std::string const& address) {
  auto const kind = kind_of_address(address);
  if (!kind) return kind.error();
  switch (*kind) {
    case address_kind::memory: return make_memory_store();
    case address_kind::sqlite: return open_sqlite_store(address);
    case address_kind::postgresql: break;
  }
#ifdef ATONE_HAS_POSTGRESQL
  return open_postgres_store(address);
#else
  return postgresql_left_out();
#endif
}

}  // namespace atone
