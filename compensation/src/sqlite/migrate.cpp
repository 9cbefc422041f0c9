#include "sqlite/migrate.hpp"

#include "sqlite/embedded_sql.hpp"

namespace atone::sqlite {
namespace {

constexpr char const* make_table =
    "CREATE TABLE IF NOT EXISTS atone_migration ("
    "number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL)";

result<void> apply(connection& on, migration const& one, store_clock const& clock) {
  auto begun = transaction::begin_write(on);
  if (!begun) return begun.error();
  // Another connection may have been faster: look again, now that nobody else can write.
  auto const status = read_schema_status(on);
  if (!status) return status.error();
  if (status->found >= one.number) return {};
  if (auto done = on.run(make_table); !done) return done;
  if (auto done = on.run(one.script); !done) {
    return error{done.error().code, "migration " + std::string{one.name} + ": " + done.error().message};
  }
  {
    auto row = on.prepare("INSERT INTO atone_migration (number, name, applied_at) VALUES (?, ?, ?)");
    if (!row) return row.error();
    row->add(one.number).add_text(one.name).add(clock().time_since_epoch().count());
    if (auto done = row->run(); !done) return done;
  }
  return begun->commit();
}

}  // namespace

result<schema_status> read_schema_status(connection& on) {
  schema_status status;
  status.expected = migrations().back().number;
  auto table = on.prepare("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'atone_migration'");
  if (!table) return table.error();
  auto const row = table->step();
  if (!row) return row.error();
  if (table->take_integer() == 0) return status;
  auto newest = on.prepare("SELECT coalesce(max(number), 0) FROM atone_migration");
  if (!newest) return newest.error();
  if (auto const found = newest->step(); !found) return found.error();
  status.found = static_cast<std::uint32_t>(newest->take_integer());
  return status;
}

result<void> apply_migrations(connection& on, store_clock const& clock) {
  auto const status = read_schema_status(on);
  if (!status) return status.error();
  if (status->found > status->expected) return require_current(*status, "this store");
  for (auto const& one : migrations()) {
    if (one.number <= status->found) continue;
    if (auto done = apply(on, one, clock); !done) return done;
  }
  return {};
}

result<void> require_current(schema_status const& found, std::string const& path) {
  if (found.found == found.expected) return {};
  if (found.found > found.expected) {
    return error{errc::unsupported, path + " was written by a newer Atone: its schema is at migration " + std::to_string(found.found) +
                                        ", this build knows up to " + std::to_string(found.expected) + "; use that version or a newer one"};
  }
  return error{errc::conflict, path + " is at migration " + std::to_string(found.found) + ", this build needs " +
                                   std::to_string(found.expected) + ": run 'atone db migrate' first"};
}

}  // namespace atone::sqlite
