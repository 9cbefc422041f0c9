// A PostgreSQL server for one run of the bench: a fresh cluster on disk, durable, reached by a free loopback port; stopped and
// removed at the end. Thread rules: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "child.hpp"
#include "histogram.hpp"
#include "waiter.hpp"

namespace bench {

class postgresql_cluster {
 public:
  // Below `folder`, which must be open to others: initdb refuses root, and then works as the user `postgres`.
  postgresql_cluster(waiter const& clock, std::string folder, bool by_unix_socket);
  ~postgresql_cluster();
  postgresql_cluster(postgresql_cluster const&) = delete;
  postgresql_cluster& operator=(postgresql_cluster const&) = delete;

  pid_t pid() const noexcept { return server_.pid(); }
  std::string address(std::string const& database) const;
  // By way of whoever listens on that loopback port.
  std::string address(std::string const& database, std::uint16_t through) const;
  std::uint16_t port() const noexcept { return port_; }
  // Where one of its programs lies: "pg_dump".
  std::string program(std::string const& name) const { return programs_ + "/" + name; }
  // What was set beside the defaults: "fsync=on, …".
  static std::string settings();

  // A fresh, empty database.
  void create(std::string const& database);
  void checkpoint();
  std::string version();
  // Bytes of write-ahead log since the cluster was made, of all databases, checkpoints and vacuum included.
  std::uint64_t wal_position();
  // Transactions committed there. Waits until no client is left: only a backend that has ended has told all its statistics.
  std::uint64_t commits_of(std::string const& database);
  // Of clients, and the bytes of a database on disk.
  std::uint64_t connections();
  std::uint64_t size_of(std::string const& database);
  // Rows in its table.
  std::uint64_t rows_of(std::string const& database, std::string const& table);
  // Latencies of single-row inserts, each a commit of its own, one after another for so long.
  histogram single_row_commits(std::string const& database, steady::duration for_time);

 private:
  std::string ask(std::string const& query, std::string const& database = "postgres") const;
  void start();

  waiter const& clock_;
  std::string folder_;
  bool by_unix_socket_;
  std::string programs_;
  std::uint16_t port_ = 0;
  child server_;
};

}  // namespace bench
