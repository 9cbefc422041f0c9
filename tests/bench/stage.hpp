// What a measurement runs on: a work folder, three participants, and a PostgreSQL server where one is wanted. Everything is
// stopped and removed with the stage. Thread rules: made before any thread, and used by the main thread.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "child.hpp"
#include "options.hpp"
#include "participant.hpp"
#include "postgresql_cluster.hpp"
#include "usage.hpp"
#include "waiter.hpp"
#include "workload.hpp"

namespace bench {

// `own`: files of a peer that keeps its journal itself.
enum class store_kind : std::uint8_t { postgresql, sqlite, own };
std::string_view name(store_kind of) noexcept;
// What --store says, or else `otherwise`.
store_kind wanted_store(options const& of, store_kind otherwise);

// A store of its own for one measurement.
struct place {
  store_kind kind = store_kind::sqlite;
  std::string database;  // PostgreSQL's name of it
  std::string address;

  place() = default;
};

class stage {
 public:
  stage(waiter const& clock, options const& of);
  ~stage();
  stage(stage const&) = delete;
  stage& operator=(stage const&) = delete;

  waiter const& clock() const noexcept { return clock_; }
  bench::options const& options() const noexcept { return options_; }
  // Started at first use.
  postgresql_cluster& postgresql();
  bool has_postgresql() const noexcept { return postgresql_ != nullptr; }
  // Empty and migrated, so that what is counted is the sagas'.
  place make_place(store_kind kind);
  // For an engine that is not Atone: an empty database, or a folder that is not there yet.
  place make_foreign_place(store_kind kind);
  std::string in_folder(std::string const& file) const { return folder_ + "/" + file; }

  // service -> URL
  std::map<std::string, std::string> addresses() const;
  // Ends the participant and puts another in its place, on the same port.
  void replace_participant(std::size_t which, manner how);
  cpu_time cpu_of_participants() const;
  cpu_time cpu_of_postgresql() const;

 private:
  struct participant {
    listener at;
    child process;
  };

  waiter const& clock_;
  bench::options options_;
  std::string folder_;
  std::array<participant, services.size()> participants_;
  std::unique_ptr<postgresql_cluster> postgresql_;
  unsigned places_ = 0;
};

}  // namespace bench
