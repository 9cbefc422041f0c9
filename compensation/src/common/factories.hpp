// What the adapters offer to open_store and open_database: one function a database, so that no vendor's header is seen
// outside its folder. An address arrives whole ("sqlite:PATH", "postgresql://…"). Thread rules: callable from any thread.
#pragma once

#include <memory>
#include <string>

#include <atone/journal.hpp>
#include <atone/participant.hpp>
#include <atone/result.hpp>

namespace atone {

inline constexpr char const* sqlite_scheme = "sqlite:";

// compensation/src/sqlite. The file is made when it is missing; nothing is migrated.
result<std::unique_ptr<store>> open_sqlite_store(std::string const& address);
result<std::unique_ptr<participant::participant_database>> open_sqlite_database(std::string const& address);

// compensation/src/postgres; present only when ATONE_HAS_POSTGRESQL is defined.
result<std::unique_ptr<store>> open_postgres_store(std::string const& address);
result<std::unique_ptr<participant::participant_database>> open_postgres_database(std::string const& address);
// The functions and the table, as `atone barrier --dialect postgresql` prints them.
std::string_view postgres_barrier_sql();
// The statements, as `atone barrier --dialect sqlite` prints them.
std::string_view sqlite_barrier_sql();

}  // namespace atone
