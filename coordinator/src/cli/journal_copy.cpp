#include <array>
#include <filesystem>
#include <fstream>

#include <atone/journal.hpp>
#include <atone/journal_dump.hpp>

#include "cli/audit_journal.hpp"
#include "cli/audit_state.hpp"

namespace atone::cli {
namespace {

constexpr std::string_view sqlite_begin{"SQLite format 3\0", 16};
constexpr duration starts_differ = std::chrono::minutes{1};  // the clocks of nodes, and a start on its way when the copy was made

// The newest saga of a copy says how far it is complete.
std::optional<saga_id> complete_below(std::optional<saga_id> newest) {
  return newest ? older_by(*newest, starts_differ) : saga_id{};
}

class dump_journal final : public audit_journal {
 public:
  explicit dump_journal(std::unique_ptr<journal_dump> from) : from_(std::move(from)) {}

  result<std::optional<saga_id>> newest() override { return found_newest(); }

  result<void> list(saga_status status, std::optional<saga_id> from, visitor const& visit) override {
    for (auto const& each : from_->sagas()) {
      if (from && each.id < *from) return {};
      if (each.status != status) continue;
      auto row = each;
      visit(row);
    }
    return {};
  }

  result<std::optional<saga_row>> find(saga_id id) override {
    auto const* const found = from_->find(id);
    return found == nullptr ? std::optional<saga_row>{} : std::optional{*found};
  }

  result<std::optional<std::vector<event>>> history(saga_id id) override {
    auto events = from_->history(id);
    if (!events) return events.error();
    return std::optional{std::move(*events)};
  }

  result<std::optional<std::string>> definition_text(definition_ref const& which) override {
    auto const* const found = from_->definition(which.name, which.version);
    return found == nullptr || found->ref != which ? std::optional<std::string>{} : std::optional{found->text};
  }

  result<std::optional<saga_id>> deleted_up_to() override { return from_->deletions().newest; }
  std::optional<saga_id> complete_up_to() override { return complete_below(found_newest()); }

 private:
  std::optional<saga_id> found_newest() const { return from_->sagas().empty() ? std::nullopt : std::optional{from_->sagas().front().id}; }

  std::unique_ptr<journal_dump> from_;
};

class sqlite_copy final : public audit_journal {
 public:
  sqlite_copy(std::unique_ptr<store> in, std::unique_ptr<journal_reader> reader, std::optional<saga_id> newest)
      : store_(std::move(in)), reader_(std::move(reader)), newest_(newest) {}

  result<std::optional<saga_id>> newest() override { return newest_; }

  result<void> list(saga_status status, std::optional<saga_id> from, visitor const& visit) override {
    saga_filter asked;
    asked.status = status;
    asked.limit = saga_filter::page_max;
    for (;;) {
      auto rows = reader_->list(asked);
      if (!rows) return rows.error();
      for (auto& row : *rows) {
        if (from && row.id < *from) return {};
        asked.before = row.id;
        visit(row);
      }
      if (rows->size() < asked.limit) return {};
    }
  }

  result<std::optional<saga_row>> find(saga_id id) override { return reader_->find(id); }

  result<std::optional<std::vector<event>>> history(saga_id id) override {
    auto events = reader_->history(id);
    if (!events) return events.error();
    return std::optional{std::move(*events)};
  }

  result<std::optional<std::string>> definition_text(definition_ref const& which) override {
    auto const found = reader_->definition(which.name, which.version);
    if (!found) return found.error();
    return *found && (*found)->ref == which ? std::optional{(*found)->text} : std::optional<std::string>{};
  }

  result<std::optional<saga_id>> deleted_up_to() override {
    auto const found = reader_->deletions();
    if (!found) return found.error();
    return found->newest;
  }

  std::optional<saga_id> complete_up_to() override { return complete_below(newest_); }

 private:
  std::unique_ptr<store> store_;  // outlives its reader
  std::unique_ptr<journal_reader> reader_;
  std::optional<saga_id> newest_;
};

result<std::unique_ptr<audit_journal>> open_sqlite_copy(std::string const& path) {
  auto opened = open_store("sqlite:" + path);
  if (!opened) return opened.error();
  auto reader = (*opened)->open_reader();
  if (!reader) return reader.error();
  saga_filter one;
  one.limit = 1;
  auto const rows = (*reader)->list(one);
  if (!rows) return rows.error();
  auto const newest = rows->empty() ? std::nullopt : std::optional{rows->front().id};
  return std::unique_ptr<audit_journal>{std::make_unique<sqlite_copy>(std::move(*opened), std::move(*reader), newest)};
}

result<std::unique_ptr<audit_journal>> open_dump(std::istream& from, std::string const& name) {
  auto read = journal_dump::read(from, name, std::filesystem::temp_directory_path().string());
  if (!read) return read.error();
  return std::unique_ptr<audit_journal>{std::make_unique<dump_journal>(std::move(*read))};
}

}  // namespace

result<std::unique_ptr<audit_journal>> open_journal_copy(std::string const& path, surroundings const& with) {
  if (path == "-") return open_dump(with.input, "standard input");
  std::ifstream file{path, std::ios::binary};
  std::array<char, sqlite_begin.size()> begin{};
  file.read(begin.data(), begin.size());
  auto const came = static_cast<std::size_t>(file.gcount());
  if (!file.is_open() || file.bad())
    return error{errc::invalid_argument, path + ": can't be read; expected a dump, or a copy of an SQLite file"};
  if (std::string_view{begin.data(), came} == sqlite_begin) return open_sqlite_copy(path);
  file.clear();
  file.seekg(0);
  return open_dump(file, path);
}

}  // namespace atone::cli
