#include "postgres/health.hpp"

#include <chrono>

namespace atone::postgres {
namespace {

constexpr int version_min = 140'000;  // pg_terminate_backend with a wait came with 14
constexpr double clock_offset_max_seconds = 1.0;

// Reads "is it so?" from the server; a warning where it is.
struct check {
  char const* condition;
  char const* warning;
};

constexpr check checks[] = {
    {"current_setting('fsync') <> 'on'", "fsync is off: a crash of the machine loses or destroys committed sagas; set fsync = on"},
    {"current_setting('full_page_writes') <> 'on'",
     "full_page_writes is off: a crash of the machine can destroy pages; set full_page_writes = on unless the file system is atomic"},
    {"(select reset_val from pg_settings where name = 'synchronous_commit') in ('off', 'local')",
     "synchronous_commit is not on by default: Atone sets it for its own sessions, the participants in this database may lose what they "
     "answered; set synchronous_commit = on"},
    {"pg_is_in_recovery()", "this server is a standby: it can't be written to; name the primary"},
    {"not pg_is_in_recovery() and current_setting('transaction_read_only') = 'on'",
     "sessions are read-only by default: nothing can be committed; set default_transaction_read_only = off"},
    {"current_setting('server_encoding') <> 'UTF8'",
     "the database's encoding is not UTF8: make one with encoding 'UTF8' template template0"},
    {"current_setting('zero_damaged_pages') = 'on'", "zero_damaged_pages is on: damaged journal pages would vanish in silence; set it off"},
};

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void check_version(session& on, std::vector<std::string>& warnings) {
  auto const version = on.run("select current_setting('server_version_num')::integer, current_setting('server_version')");
  if (!version) return warnings.push_back(version.error().message);
  if ((*version)[0][0].as<int>() >= version_min) return;
  warnings.push_back(std::string{"PostgreSQL "} + (*version)[0][1].c_str() + " is too old; Atone needs 14 or newer and is tested with 15");
}

// Database time decides, so an offset harms nothing that runs; but people compare logs.
void check_clock(session& on, std::vector<std::string>& warnings) {
  auto const before = seconds_since_1970();
  auto const answer = on.run("select extract(epoch from clock_timestamp())");
  auto const after = seconds_since_1970();
  if (!answer) return warnings.push_back(answer.error().message);
  auto const server = (*answer)[0][0].as<double>();
  if (server >= before - clock_offset_max_seconds && server <= after + clock_offset_max_seconds) return;
  warnings.push_back("the server's clock is " + std::to_string(server - after) + " s from this machine's: set both by NTP");
}

}  // namespace

std::vector<std::string> server_warnings(session& on) {
  std::vector<std::string> warnings;
  check_version(on, warnings);
  for (auto const& one : checks) {
    auto const answer = on.run(std::string{"select "} + one.condition);
    if (!answer) {
      warnings.push_back(answer.error().message);
    } else if ((*answer)[0][0].as<bool>()) {
      warnings.emplace_back(one.warning);
    }
  }
  check_clock(on, warnings);
  return warnings;
}

}  // namespace atone::postgres
