#include "stage.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <atone/journal.hpp>

#include "failure.hpp"

namespace bench {
namespace {

std::string make_folder(std::string const& below) {
  auto pattern = below + "/atone-bench-XXXXXX";
  // Open to the user PostgreSQL runs as.
  if (::mkdtemp(pattern.data()) == nullptr || ::chmod(pattern.c_str(), 0755) != 0) {
    throw failure{"no folder can be made in " + below + ": " + std::strerror(errno)};
  }
  return pattern;
}

}  // namespace

std::string_view name(store_kind of) noexcept {
  switch (of) {
    case store_kind::postgresql: return "postgresql";
    case store_kind::sqlite: return "sqlite";
    case store_kind::own: return "own";
  }
  return "?";
}

store_kind wanted_store(options const& of, store_kind otherwise) {
  if (of.store.empty()) return otherwise;
  return of.store == "sqlite" ? store_kind::sqlite : store_kind::postgresql;
}

stage::stage(waiter const& clock, bench::options const& of) : clock_(clock), options_(of), folder_(make_folder(of.folder)) {
  for (std::size_t each = 0; each < participants_.size(); ++each) replace_participant(each, manner::answers);
}

stage::~stage() {
  postgresql_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

postgresql_cluster& stage::postgresql() {
  if (postgresql_ == nullptr) postgresql_ = std::make_unique<postgresql_cluster>(clock_, in_folder("postgresql"), options_.unix_socket);
  return *postgresql_;
}

place stage::make_foreign_place(store_kind kind) {
  place made;
  made.kind = kind;
  made.database = "bench_" + std::to_string(++places_);
  made.address = in_folder(made.database);
  if (kind != store_kind::postgresql) return made;
  postgresql().create(made.database);
  made.address = postgresql().address(made.database);
  return made;
}

place stage::make_place(store_kind kind) {
  auto made = make_foreign_place(kind);
  if (kind == store_kind::sqlite) made.address = "sqlite:" + made.address + ".db";
  need(need(atone::open_store(made.address), "opening the store")->migrate(), "making the store's tables");
  return made;
}

std::map<std::string, std::string> stage::addresses() const {
  std::map<std::string, std::string> made;
  for (std::size_t each = 0; each < participants_.size(); ++each) {
    made.emplace(services[each], "http://127.0.0.1:" + std::to_string(participants_[each].at.port()));
  }
  return made;
}

void stage::replace_participant(std::size_t which, manner how) {
  auto& of = participants_.at(which);
  of.process.kill_hard();
  of.process = child::fork_off("participant", [&of, how] { return serve(of.at, how); });
}

cpu_time stage::cpu_of_participants() const {
  cpu_time sum{};
  for (auto const& each : participants_) sum += cpu_of_process(each.process.pid());
  return sum;
}

cpu_time stage::cpu_of_postgresql() const {
  return postgresql_ == nullptr ? cpu_time{} : cpu_of_family(postgresql_->pid());
}

}  // namespace bench
