// A private PostgreSQL server for tests: made in a folder of its own, reached by a free loopback port, removed at the end.
// Durable as a real one (fsync on), small. Started once a test program; each test gets a database of its own.
//
// A test begins with
//     ATONE_NEED_POSTGRES();
// which skips it, saying why, where PostgreSQL is not installed, and fails there when CI is set.
// Thread rules: one thread, except address().
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atone::test {

class postgres_server {
 public:
  // Where initdb and postgres lie; nothing when PostgreSQL is not installed.
  static std::optional<std::string> find_programs();
  // Why no server can be had here; empty when one can.
  static std::string missing();
  // Says why on stderr when no server can be had; ends the test program there when CI is set.
  static bool available();

  // Makes a cluster and starts it. Aborts the test program with the server's log when it does not come up.
  postgres_server();
  struct standby_of {
    postgres_server const& primary;
  };
  // A hot standby, by pg_basebackup. It is to be destroyed before its primary.
  explicit postgres_server(standby_of of);
  ~postgres_server();
  postgres_server(postgres_server const&) = delete;
  postgres_server& operator=(postgres_server const&) = delete;

  // The one of this test program, started at first use.
  static postgres_server& shared();

  std::string address(std::string const& database = "postgres") const;
  // A fresh, empty database; its name.
  std::string make_database();
  void drop_database(std::string const& name);
  std::uint16_t port() const noexcept { return port_; }
  // The server's own process.
  pid_t pid() const noexcept { return pid_; }

  void start();
  void stop();          // fast shutdown
  void stop_at_once();  // immediate shutdown: nothing is finished, the next start recovers
  void kill();          // SIGKILL to the server's process and to each of its backends
  void promote();       // a standby: it takes writes from here on
  // Runs statements through psql as superuser; its output, or the test program ends with its error.
  std::string psql(std::string const& statements, std::string const& database = "postgres") const;
  // What another of its programs prints ("pg_dump"), given `input`; the test program ends where that fails.
  std::string output_of(std::string const& program, std::vector<std::string> words, std::string const& input = {}) const;

 private:
  void write_settings();
  bool answers() const;
  void end(int signal);

  std::string programs_;
  std::string folder_;
  std::uint16_t port_ = 0;
  pid_t pid_ = 0;
  int databases_ = 0;
};

}  // namespace atone::test

#define ATONE_NEED_POSTGRES()                                                           \
  do {                                                                                  \
    if (!::atone::test::postgres_server::available()) {                                 \
      GTEST_SKIP() << "skipped, because " << ::atone::test::postgres_server::missing(); \
    }                                                                                   \
  } while (false)
