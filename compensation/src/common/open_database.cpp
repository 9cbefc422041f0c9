// Dispatch of participants' databases by the scheme of the address, and of the printed barrier by dialect.
#include <atone/participant.hpp>

#include "common/address.hpp"
#include "common/factories.hpp"

namespace atone::participant {

std::string_view name(verdict of) noexcept {
  switch (of) {
    case verdict::proceed: return "proceed";
    case verdict::duplicate: return "duplicate";
    case verdict::empty: return "empty";
    case verdict::refused: return "refused";
  }
  return "unknown";
}

result<std::unique_ptr<participant_database>> open_database(std::string const& address) {
  auto const kind = kind_of_address(address);
  if (!kind) return kind.error();
  switch (*kind) {
    case address_kind::memory:
      return error{errc::unsupported, "a participant needs a database of its own; expected sqlite:PATH or postgresql://…, found memory:"};
    case address_kind::sqlite: return open_sqlite_database(address);
    case address_kind::postgresql: break;
  }
#ifdef ATONE_HAS_POSTGRESQL
  return open_postgres_database(address);
#else
  return postgresql_left_out();
#endif
}

std::string_view barrier_sql(std::string_view dialect) {
  if (dialect == "sqlite") return sqlite_barrier_sql();
#ifdef ATONE_HAS_POSTGRESQL
  if (dialect == "postgresql") return postgres_barrier_sql();
#endif
  return {};
}

}  // namespace atone::participant
