#include "postgres/migrations.hpp"

#include "postgres/embedded_sql.hpp"

namespace atone::postgres {
namespace {

// Any fixed number: held while a step is applied.
constexpr char const* migration_lock = "select pg_advisory_xact_lock(4707201801)";

result<std::uint32_t> newest_applied(session& on) {
  auto const there = on.run("select to_regclass('atone.migration') is not null");
  if (!there) return there.error();
  if (!(*there)[0][0].as<bool>()) return std::uint32_t{0};
  auto const newest = on.run("select coalesce(max(number), 0) from atone.migration");
  if (!newest) return newest.error();
  return (*newest)[0][0].as<std::uint32_t>();
}

result<void> check_encoding(session& on) {
  auto const encoding = on.run("show server_encoding");
  if (!encoding) return encoding.error();
  std::string const found = (*encoding)[0][0].c_str();
  if (found == "UTF8") return {};
  return error{errc::unsupported,
               "the database's encoding is " + found + "; Atone needs UTF8 (create database … encoding 'UTF8' template template0)"};
}

result<void> apply(session& on, migration const& step, std::uint32_t number) {
  auto const applied = newest_applied(on);
  if (!applied) return applied.error();
  if (*applied >= number) return {};  // whoever held the lock before did it
  auto const done = on.run(std::string{step.text} + ";\ninsert into atone.migration (number, name) values (" + std::to_string(number) +
                           ", '" + std::string{step.name} + "')");
  if (!done) return error{done.error().code, "migration " + std::string{step.name} + ": " + done.error().message};
  return {};
}

result<void> apply_locked(session& on, migration const& step, std::uint32_t number) {
  if (auto begun = on.run(std::string{"begin; "} + migration_lock); !begun) return begun.error();
  auto const opened = on.run(
      "create schema if not exists atone; create table if not exists atone.migration (number integer primary key, name text not null, "
      "applied_at timestamptz not null default clock_timestamp())");
  auto const applied = opened ? apply(on, step, number) : result<void>{opened.error()};
  if (!applied) {
    static_cast<void>(on.run("rollback"));
    return applied;
  }
  if (auto committed = on.run("commit"); !committed) return committed.error();
  return {};
}

error newer_than_this_build(schema_status const& status) {
  return error{errc::unsupported, "the database is at migration " + std::to_string(status.found) + ", newer than this build knows (" +
                                      std::to_string(status.expected) + "); use a newer atone"};
}

}  // namespace

result<schema_status> schema_of(session& on) {
  auto const found = newest_applied(on);
  if (!found) return found.error();
  schema_status status;
  status.found = *found;
  status.expected = static_cast<std::uint32_t>(migrations().size());
  return status;
}

result<void> check_schema(session& on) {
  auto const status = schema_of(on);
  if (!status) return status.error();
  if (status->found > status->expected) return newer_than_this_build(*status);
  if (status->found == status->expected) return {};
  return error{errc::unsupported, "the database is at migration " + std::to_string(status->found) + " of " +
                                      std::to_string(status->expected) + "; run: atone db migrate"};
}

result<void> migrate(session& on) {
  if (auto fine = check_encoding(on); !fine) return fine;
  auto const status = schema_of(on);
  if (!status) return status.error();
  if (status->found > status->expected) return newer_than_this_build(*status);
  for (auto number = status->found + 1; number <= status->expected; ++number) {
    if (auto done = apply_locked(on, migrations()[number - 1], number); !done) return done;
  }
  return {};
}

}  // namespace atone::postgres
