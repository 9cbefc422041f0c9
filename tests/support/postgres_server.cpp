#include "postgres_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace atone::test {
namespace {

namespace fs = std::filesystem;
constexpr int start_attempts_max = 600;  // of 50 ms
constexpr std::uintmax_t memory_needed = std::uintmax_t{2} << 30;
constexpr char const* server_user = "postgres";

[[noreturn]] void give_up(std::string const& why) {
  std::fprintf(stderr, "postgres_server: %s\n", why.c_str());
  std::abort();
}

bool is_root() {
  return ::geteuid() == 0;
}

// initdb and postgres refuse root: there they run as the user the package made.
void become_server_user() {
  if (!is_root()) return;
  auto const* const user = ::getpwnam(server_user);
  if (user == nullptr || ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0) ::_exit(126);
}

void close_inherited() {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) ::close(descriptor);
}

void redirect(std::string const& log) {
  int const out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  int const in = ::open("/dev/null", O_RDONLY);
  if (out < 0 || in < 0) ::_exit(125);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
}

pid_t spawn(std::vector<std::string> const& command, std::string const& folder, std::string const& log, bool dies_with_us) {
  std::vector<char*> arguments;
  for (auto const& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t const child = ::fork();
  if (child < 0) give_up(std::string{"fork: "} + std::strerror(errno));
  if (child > 0) return child;
  ::setpgid(0, 0);  // a Ctrl-C at the test must not take the server from it
  become_server_user();
  // After the change of user, which clears it. SIGINT: fast shutdown.
  if (dies_with_us) ::prctl(PR_SET_PDEATHSIG, SIGINT);
  if (::chdir(folder.c_str()) != 0) ::_exit(124);
  redirect(log);
  close_inherited();
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string contents(std::string const& path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::uint16_t free_port() {
  int const probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  if (::bind(probe, reinterpret_cast<sockaddr*>(&where), size) != 0 ||
      ::getsockname(probe, reinterpret_cast<sockaddr*>(&where), &size) != 0) {
    give_up("no free port");
  }
  ::close(probe);
  return ntohs(where.sin_port);
}

// Not below a home: that may be closed (0700) to the server's user. In memory where there is room, since the tests make and
// remove many small files; nothing here shows a loss of power in any case.
std::string folder_for_servers() {
  std::error_code none;
  auto const memory = fs::space("/dev/shm", none);
  if (!none && memory.available >= memory_needed) return "/dev/shm";
  return fs::exists("/var/tmp") ? std::string{"/var/tmp"} : fs::temp_directory_path().string();
}

std::string make_folder() {
  std::string pattern = folder_for_servers() + "/atone-postgres-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) give_up(std::string{"mkdtemp: "} + std::strerror(errno));
  if (is_root()) {
    auto const* const user = ::getpwnam(server_user);
    if (user == nullptr || ::chown(pattern.c_str(), user->pw_uid, user->pw_gid) != 0) give_up("chown of " + pattern + " failed");
  }
  return pattern;
}

// Children by /proc: the backends, which a killed postmaster leaves behind for a moment.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  for (auto const& entry : fs::directory_iterator{"/proc"}) {
    auto const name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    auto const stat = contents(entry.path() / "stat");
    auto const after_name = stat.rfind(')');
    if (after_name == std::string::npos) continue;
    std::istringstream rest{stat.substr(after_name + 1)};
    char state = 0;
    pid_t its_parent = 0;
    rest >> state >> its_parent;
    if (its_parent == parent) found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

}  // namespace

std::optional<std::string> postgres_server::find_programs() {
  std::vector<std::string> found;
  std::error_code none;
  for (auto const& version : fs::directory_iterator{"/usr/lib/postgresql", none}) {
    auto const programs = version.path() / "bin";
    if (fs::exists(programs / "initdb") && fs::exists(programs / "postgres") && fs::exists(programs / "psql"))
      found.push_back(programs.string());
  }
  if (found.empty()) return std::nullopt;
  return *std::max_element(found.begin(), found.end());
}

std::string postgres_server::missing() {
  if (!find_programs()) return "PostgreSQL is not installed (no /usr/lib/postgresql/*/bin/initdb; Debian: postgresql-15)";
  if (is_root() && ::getpwnam(server_user) == nullptr) return "PostgreSQL refuses root, and there is no user 'postgres' to run it as";
  return {};
}

bool postgres_server::available() {
  auto const why = missing();
  if (why.empty()) return true;
  if (std::getenv("CI") != nullptr) give_up("PostgreSQL tests must not be skipped where CI is set: " + why);
  std::fprintf(stderr, "skipped, because %s\n", why.c_str());
  return false;
}

postgres_server::postgres_server() {
  auto const programs = find_programs();
  if (!programs) give_up(missing());
  programs_ = *programs;
  folder_ = make_folder();
  auto const log = folder_ + "/initdb.log";
  int const made = wait_for(spawn({programs_ + "/initdb", "-D", folder_ + "/data", "-U", "atone", "-A", "trust", "-E", "UTF8", "--locale=C",
                                   "--no-instructions", "--no-sync"},
                                  folder_, log, false));
  if (made != 0) give_up("initdb failed: " + contents(log));
  write_settings();
  port_ = free_port();
  start();
}

postgres_server::postgres_server(standby_of of) : programs_(of.primary.programs_), folder_(make_folder()) {
  auto const log = folder_ + "/basebackup.log";
  int const made = wait_for(spawn({programs_ + "/pg_basebackup", "-D", folder_ + "/data", "-R", "-X", "stream", "-c", "fast", "-h",
                                   "127.0.0.1", "-p", std::to_string(of.primary.port_), "-U", "atone", "--no-sync"},
                                  folder_, log, false));
  if (made != 0) give_up("pg_basebackup failed: " + contents(log));
  write_settings();
  port_ = free_port();
  start();
}

postgres_server::~postgres_server() {
  stop();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

postgres_server& postgres_server::shared() {
  static postgres_server server;
  return server;
}

// Small, but as durable as in earnest; autovacuum off, so that counters show only what the test did.
void postgres_server::write_settings() {
  std::ofstream settings{folder_ + "/data/postgresql.conf", std::ios::app};
  settings
      << "fsync = on\nsynchronous_commit = on\nfull_page_writes = on\nshared_buffers = 16MB\nmax_connections = 60\n"
      << "max_wal_size = 256MB\nwal_buffers = 1MB\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '" << folder_ << "'\n"
      << "autovacuum = off\nmax_worker_processes = 0\nmax_parallel_workers = 0\nmax_prepared_transactions = 10\n"
      << "logging_collector = off\nlog_min_messages = warning\nlog_checkpoints = off\nstats_fetch_consistency = none\ntimezone = UTC\n";
}

std::string postgres_server::address(std::string const& database) const {
  return "postgresql://atone@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

void postgres_server::start() {
  auto const log = folder_ + "/server.log";
  pid_ = spawn({programs_ + "/postgres", "-D", folder_ + "/data", "-p", std::to_string(port_)}, folder_, log, true);
  for (int attempt = 0; attempt < start_attempts_max; ++attempt) {
    if (answers()) return;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) give_up("the server ended at once: " + contents(log));
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  give_up("the server does not answer: " + contents(log));
}

bool postgres_server::answers() const {
  return wait_for(spawn({programs_ + "/pg_isready", "-q", "-h", "127.0.0.1", "-p", std::to_string(port_), "-U", "atone", "-d", "postgres"},
                        folder_, "/dev/null", false)) == 0;
}

void postgres_server::stop() {
  end(SIGINT);
}

void postgres_server::stop_at_once() {
  end(SIGQUIT);
}

void postgres_server::end(int signal) {
  if (pid_ == 0) return;
  ::kill(pid_, signal);
  wait_for(pid_);
  pid_ = 0;
}

void postgres_server::promote() {
  auto const log = folder_ + "/promote.log";
  if (wait_for(spawn({programs_ + "/pg_ctl", "promote", "-w", "-D", folder_ + "/data"}, folder_, log, false)) != 0) {
    give_up("pg_ctl promote failed: " + contents(log));
  }
}

void postgres_server::kill() {
  auto const backends = children_of(pid_);
  ::kill(pid_, SIGKILL);
  for (pid_t const backend : backends) ::kill(backend, SIGKILL);
  wait_for(pid_);
  pid_ = 0;
  // The next start waits for the last of them to let go of the shared memory.
  for (pid_t const backend : backends) {
    for (int attempt = 0; attempt < 200 && ::kill(backend, 0) == 0; ++attempt) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

std::string postgres_server::psql(std::string const& statements, std::string const& database) const {
  auto const file = folder_ + "/psql.out";
  fs::remove(file);
  int const done = wait_for(spawn({programs_ + "/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p",
                                   std::to_string(port_), "-U", "atone", "-d", database, "-c", statements},
                                  folder_, file, false));
  auto text = contents(file);
  if (done != 0) give_up("psql: " + text + "\n" + statements);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string postgres_server::output_of(std::string const& program, std::vector<std::string> words, std::string const& input) const {
  auto const out = folder_ + "/program.out";
  auto const in = folder_ + "/program.in";
  fs::remove(out);
  std::ofstream{in, std::ios::binary} << input;
  words.insert(words.begin(), {"/bin/sh", "-c", "exec \"$0\" \"$@\" < program.in 2> program.err", programs_ + "/" + program});
  int const done = wait_for(spawn(words, folder_, out, false));
  if (done != 0) give_up(program + ": " + contents(folder_ + "/program.err"));
  return contents(out);
}

std::string postgres_server::make_database() {
  auto const name = "test_" + std::to_string(++databases_);
  psql("create database " + name);
  return name;
}

void postgres_server::drop_database(std::string const& name) {
  psql("drop database if exists " + name + " with (force)");
}

}  // namespace atone::test
