#include <atone/journal_dump.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include "dump_lines.hpp"
#include "dump_rows.hpp"
#include "dump_scan.hpp"
#include "event_index.hpp"

namespace atone {

struct journal_dump::impl {
  explicit impl(dump::event_index&& index) : events(std::move(index)) {}

  dump::event_index events;
  std::vector<saga_row> sagas;
  std::map<std::pair<std::string, std::uint32_t>, definition_row> definitions;
  deletion_record deleted;
  std::uint32_t migration = 0;  // the newest

  result<void> take_migration(dump::copy_fields const& fields) {
    auto const number = dump::read_migration(fields);
    if (!number) return number.error();
    migration = std::max(migration, *number);
    return {};
  }

  result<void> take_definition(dump::copy_fields const& fields) {
    auto row = dump::read_definition(fields);
    if (!row) return row.error();
    auto const key = std::pair{row->ref.name, row->ref.version.value()};
    if (definitions.emplace(key, std::move(*row)).second) return {};
    return error{errc::corrupt, "definition " + key.first + '@' + std::to_string(key.second) + " has two rows; expected one"};
  }

  result<void> take_saga(dump::copy_fields const& fields) {
    auto row = dump::read_saga(fields);
    if (!row) return row.error();
    sagas.push_back(std::move(*row));
    return {};
  }

  // Read here, so that what is wrong is told with its line; kept as text.
  result<void> take_event(dump::copy_fields const& fields) {
    auto const read = dump::read_event(fields);
    if (!read) return read.error();
    return events.add(read->saga, read->event.seq, dump::copy_line(fields));
  }

  result<void> take_deletion(dump::copy_fields const& fields) {
    auto const read = dump::read_deletion(fields);
    if (!read) return read.error();
    deleted.sagas += read->sagas;
    deleted.newest = std::max(deleted.newest.value_or(*read->newest), *read->newest);
    return {};
  }

  std::vector<dump::wanted_table> wanted() {
    return {{"migration", dump::migration_columns(), [this](auto const& fields) { return take_migration(fields); }},
            {"definition", dump::definition_columns(), [this](auto const& fields) { return take_definition(fields); }},
            {"saga", dump::saga_columns(), [this](auto const& fields) { return take_saga(fields); }},
            {"journal", dump::event_columns(), [this](auto const& fields) { return take_event(fields); }},
            {"deletion", dump::deletion_columns(), [this](auto const& fields) { return take_deletion(fields); }}};
  }

  result<void> check_migration(std::string const& name) const {
    if (migration == ATONE_POSTGRESQL_MIGRATIONS) return {};
    return error{errc::corrupt, name + ": the dump is at migration " + std::to_string(migration) + "; expected " +
                                    std::to_string(ATONE_POSTGRESQL_MIGRATIONS) +
                                    (migration < ATONE_POSTGRESQL_MIGRATIONS ? " (restore it, run atone db migrate, and audit that)"
                                                                             : ": use the newer atone that wrote it")};
  }

  result<void> finish(std::string const& name) {
    std::sort(sagas.begin(), sagas.end(), [](saga_row const& left, saga_row const& right) { return left.id > right.id; });
    auto const twice =
        std::adjacent_find(sagas.begin(), sagas.end(), [](auto const& left, auto const& right) { return left.id == right.id; });
    if (twice != sagas.end()) return error{errc::corrupt, name + ": saga " + twice->id.text() + " has two rows; expected one"};
    if (auto finished = events.finish(); !finished) return finished;
    // An effect of a saga whose row is lost would be taken for one of a saga that was deleted, or that began later.
    auto const rowless = events.find_stranger([this](saga_id id) { return find(id) != nullptr; });
    if (rowless) return error{errc::corrupt, name + ": saga " + rowless->text() + " has events and no row; expected its row in atone.saga"};
    return {};
  }

  // After the rows are in order.
  saga_row const* find(saga_id id) const noexcept {
    auto const at = std::lower_bound(sagas.begin(), sagas.end(), id, [](saga_row const& one, saga_id wanted) { return one.id > wanted; });
    return at == sagas.end() || at->id != id ? nullptr : &*at;
  }
};

journal_dump::journal_dump(std::unique_ptr<impl> made) : impl_(std::move(made)) {}
journal_dump::~journal_dump() = default;

result<std::unique_ptr<journal_dump>> journal_dump::read(std::istream& from, std::string const& name, std::string const& folder) {
  auto index = dump::event_index::open(folder);
  if (!index) return index.error();
  auto made = std::make_unique<impl>(std::move(*index));
  dump::line_source lines{from, name};
  dump::dump_scan scan{lines, made->wanted()};
  if (auto scanned = scan.run(); !scanned) return scanned.error();
  auto const fits = made->check_migration(name);
  if (made->migration > 0 && !fits) return fits.error();  // says more than that a table of this version is not there
  if (auto all = scan.all_there(); !all) return all.error();
  if (!fits) return fits.error();
  if (auto finished = made->finish(name); !finished) return finished.error();
  return std::unique_ptr<journal_dump>{new journal_dump{std::move(made)}};
}

std::vector<saga_row> const& journal_dump::sagas() const noexcept {
  return impl_->sagas;
}

saga_row const* journal_dump::find(saga_id id) const noexcept {
  return impl_->find(id);
}

result<std::vector<event>> journal_dump::history(saga_id id) const {
  auto const texts = impl_->events.texts_of(id);
  if (!texts) return texts.error();
  std::vector<event> events;
  for (auto const& text : *texts) {
    auto const fields = dump::split_copy_line(text, dump::event_columns().size());
    if (!fields) return fields.error();
    auto read = dump::read_event(*fields);
    if (!read) return read.error();
    events.push_back(std::move(read->event));
  }
  return events;
}

definition_row const* journal_dump::definition(std::string const& name, definition_version version) const noexcept {
  auto const found = impl_->definitions.find(std::pair{name, version.value()});
  return found == impl_->definitions.end() ? nullptr : &found->second;
}

deletion_record const& journal_dump::deletions() const noexcept {
  return impl_->deleted;
}

}  // namespace atone
