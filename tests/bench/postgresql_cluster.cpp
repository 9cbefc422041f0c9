#include "postgresql_cluster.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <pqxx/pqxx>

#include "failure.hpp"
#include "participant.hpp"

namespace bench {
namespace {

namespace files = std::filesystem;
constexpr char const* server_user = "postgres";
constexpr auto look_every = std::chrono::milliseconds{20};
constexpr auto start_max = std::chrono::seconds{60};
constexpr auto stop_max = std::chrono::seconds{60};
constexpr auto settle_max = std::chrono::seconds{20};

constexpr std::array settings_lines{"fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=512MB", "max_wal_size=4GB"};

std::string find_programs() {
  std::vector<std::string> found;
  std::error_code none;
  for (auto const& version : files::directory_iterator{"/usr/lib/postgresql", none}) {
    auto const programs = version.path() / "bin";
    if (files::exists(programs / "initdb")) found.push_back(programs.string());
  }
  if (found.empty()) throw failure{"PostgreSQL is not installed (no /usr/lib/postgresql/*/bin/initdb; Debian: postgresql-15)"};
  return *std::max_element(found.begin(), found.end());
}

std::string run_as() {
  return ::geteuid() == 0 ? server_user : "";
}

void give_to_server_user(std::string const& folder) {
  if (::geteuid() != 0) return;
  auto const* const user = ::getpwnam(server_user);
  if (user == nullptr) throw failure{"PostgreSQL refuses root, and there is no user 'postgres' to run it as"};
  if (::chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) throw failure{"chown of " + folder + " failed"};
}

launch_options command(std::vector<std::string> words, std::string const& folder) {
  launch_options made;
  made.words = std::move(words);
  made.folder = folder;
  made.log = folder + "/server.log";
  made.user = run_as();
  made.farewell = SIGQUIT;  // at once: nothing of it is needed any more
  made.in_own_session = true;
  return made;
}

void append_settings(std::string const& file, std::uint16_t port, std::string const& folder) {
  std::ofstream out{file, std::ios::app};
  for (auto const* line : settings_lines) out << line << '\n';
  out << "listen_addresses='127.0.0.1'\nport=" << port << "\nunix_socket_directories='" << folder << "'\n"
      << "logging_collector=off\nlog_checkpoints=off\ntimezone=UTC\n";
}

}  // namespace

postgresql_cluster::postgresql_cluster(waiter const& clock, std::string folder, bool by_unix_socket)
    : clock_(clock), folder_(std::move(folder)), by_unix_socket_(by_unix_socket), programs_(find_programs()), port_(listener{}.port()) {
  files::create_directory(folder_);
  give_to_server_user(folder_);
  auto const data = folder_ + "/data";
  auto made =
      child::launch(command({programs_ + "/initdb", "-D", data, "-U", "atone", "-A", "trust", "-E", "UTF8", "--locale=C"}, folder_));
  if (made.ended_within(clock_, start_max) != 0) throw failure{"initdb failed: " + file_text(folder_ + "/server.log")};
  append_settings(data + "/postgresql.conf", port_, folder_);
  start();
}

postgresql_cluster::~postgresql_cluster() {
  server_.stop(clock_, SIGINT, stop_max);
}

void postgresql_cluster::start() {
  server_ = child::launch(command({programs_ + "/postgres", "-D", folder_ + "/data"}, folder_));
  auto const until = steady::now() + start_max;
  while (steady::now() < until) {
    if (server_.ended_within(clock_, look_every) >= 0) break;
    try {
      (void)ask("select 1");
      return;
    } catch (pqxx::broken_connection const&) {
      // Not yet.
    }
  }
  throw failure{"PostgreSQL did not start: " + file_text(folder_ + "/server.log")};
}

std::string postgresql_cluster::address(std::string const& database) const {
  if (!by_unix_socket_) return "postgresql://atone@127.0.0.1:" + std::to_string(port_) + "/" + database;
  return "postgresql://atone@/" + database + "?host=" + folder_ + "&port=" + std::to_string(port_);
}

std::string postgresql_cluster::address(std::string const& database, std::uint16_t through) const {
  return "postgresql://atone@127.0.0.1:" + std::to_string(through) + "/" + database;
}

std::string postgresql_cluster::settings() {
  std::string text;
  for (auto const* line : settings_lines) text += (text.empty() ? "" : ", ") + std::string{line};
  return text;
}

std::string postgresql_cluster::ask(std::string const& query, std::string const& database) const {
  pqxx::connection to{address(database)};
  pqxx::nontransaction work{to};
  auto const rows = work.exec(query);
  return rows.empty() ? std::string{} : rows[0][0].c_str();
}

void postgresql_cluster::create(std::string const& database) {
  (void)ask("create database " + database);
}
void postgresql_cluster::checkpoint() {
  (void)ask("checkpoint");
}
std::string postgresql_cluster::version() {
  return ask("show server_version");
}
std::uint64_t postgresql_cluster::wal_position() {
  return std::stoull(ask("select (pg_current_wal_lsn() - '0/0')::bigint"));
}
std::uint64_t postgresql_cluster::connections() {
  return std::stoull(ask("select count(*) from pg_stat_activity where backend_type = 'client backend'"));
}
std::uint64_t postgresql_cluster::size_of(std::string const& database) {
  return std::stoull(ask("select pg_database_size('" + database + "')"));
}
std::uint64_t postgresql_cluster::rows_of(std::string const& database, std::string const& table) {
  return std::stoull(ask("select count(*) from " + table, database));
}

std::uint64_t postgresql_cluster::commits_of(std::string const& database) {
  auto const clients = "select count(*) from pg_stat_activity where backend_type = 'client backend' and datname = '" + database + "'";
  auto const until = steady::now() + settle_max;
  while (ask(clients) != "0") {
    if (steady::now() > until) throw failure{"clients stay connected to " + database};
    clock_.pause(look_every);
  }
  return std::stoull(ask("select xact_commit from pg_stat_database where datname = '" + database + "'"));
}

histogram postgresql_cluster::single_row_commits(std::string const& database, steady::duration for_time) {
  pqxx::connection to{address(database)};
  pqxx::nontransaction work{to};
  work.exec("create table single_row (id bigint primary key, payload bytea not null)");
  to.prepare("one", "insert into single_row values ($1::bigint, $2::bytea)");
  std::string const payload(150, 'x');
  histogram latencies;
  auto const until = steady::now() + for_time;
  std::int64_t id = 0;
  for (auto now = steady::now(); now < until;) {
    work.exec_prepared0("one", ++id, payload);
    auto const after = steady::now();
    latencies.add(after - now);
    now = after;
  }
  return latencies;
}

}  // namespace bench
