// Brings a file's schema up to this build, one numbered step a transaction. Thread rules: those of the connection.
#pragma once

#include <atone/journal.hpp>

#include "sqlite/connection.hpp"

namespace atone::sqlite {

// Which migrations the file has, and which this build knows.
result<schema_status> read_schema_status(connection& on);

// Applies what is missing. unsupported: the file was written by a newer build.
result<void> apply_migrations(connection& on, store_clock const& clock);

// Refuses a file that is not exactly at this build's schema, and says what to do.
result<void> require_current(schema_status const& found, std::string const& path);

}  // namespace atone::sqlite
