#include "postgres/errors.hpp"

#include <algorithm>
#include <array>

namespace atone::postgres {
namespace {

struct meaning {
  std::string_view prefix;
  errc code;
};

// The first prefix that fits decides.
constexpr std::array meanings{
    meaning{state_fenced, errc::fenced},
    meaning{state_wrong_number, errc::invalid_argument},
    meaning{state_no_such_saga, errc::bad_data},
    meaning{"40001", errc::serialization},  // serialization failure
    meaning{"40P01", errc::serialization},  // deadlock
    meaning{"55P03", errc::serialization},  // lock timeout
    meaning{"40003", errc::outcome_unknown},
    meaning{"57014", errc::unavailable},  // statement timeout: the server is too slow now
    meaning{"57P", errc::unavailable},    // shut down, crashed, starting
    meaning{"08", errc::unavailable},     // connection
    meaning{"25006", errc::unavailable},  // read-only: a standby, or a primary that was demoted
    meaning{"25P03", errc::unavailable},  // idle in transaction too long: the backend is gone
    meaning{"53", errc::unavailable},     // out of disk, memory or connections: the batch is not to blame
    meaning{"58", errc::unavailable},     // the server's own files
    meaning{"28", errc::unavailable},     // not let in
    meaning{"3D000", errc::unavailable},  // no such database
    meaning{"XX", errc::internal},        // the server's data or code is broken
    meaning{"3F000", errc::unsupported},  // no schema atone: not migrated
};

}  // namespace

errc classify(std::string_view sqlstate) noexcept {
  if (sqlstate.empty()) return errc::unavailable;  // libpq gives none for what it noticed itself: a lost connection
  for (auto const& known : meanings) {
    if (sqlstate.starts_with(known.prefix)) return known.code;
  }
  return errc::bad_data;
}

bool is_of_another_schema(std::string_view sqlstate) noexcept {
  return sqlstate == "42883" || sqlstate == "42P01" || sqlstate == "42703" || sqlstate == "42501";
}

errc classify_of_user(std::string_view sqlstate) noexcept {
  constexpr std::array<std::string_view, 10> passing{
      "40001", "40P01",  // lost against other transactions
      "55P03",           // lock_timeout, NOWAIT
      "57",              // statement_timeout; another server that is stopping or starting
      "53",              // out of disk, memory or connections
      "58",              // files
      "08",    "HV00N",  // another server can't be reached
      "25006",           // another server is a standby now
      "28",              // or does not let us in
  };
  bool const may_pass = std::any_of(passing.begin(), passing.end(), [&](std::string_view prefix) { return sqlstate.starts_with(prefix); });
  return may_pass ? errc::statement_failed : errc::bad_data;
}

bool spoils_connection(std::string_view sqlstate) noexcept {
  constexpr std::array<std::string_view, 6> spoiling{"57P", "08", "40003", "25006", "25P03", "XX"};
  return sqlstate.empty() ||
         std::any_of(spoiling.begin(), spoiling.end(), [&](std::string_view prefix) { return sqlstate.starts_with(prefix); });
}

error sql_failure(std::string_view what, std::string_view sqlstate, std::string_view message) {
  std::string text{what};
  text += ": ";
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.remove_suffix(1);
  for (char const character : message) text += character == '\n' ? ' ' : character;
  if (!sqlstate.empty()) text += " (SQLSTATE " + std::string{sqlstate} + ')';
  return error{classify(sqlstate), text};
}

}  // namespace atone::postgres
