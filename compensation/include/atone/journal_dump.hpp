// A journal read from a dump of its PostgreSQL database, without a server: what an audit needs of it.
//
// A dump is what pg_dump writes in plain format (one made with -Fc comes through `pg_restore -f -`). It is read once, front to back, so a
// pipe will do. The events lie in a file without a name meanwhile; memory holds the sagas' rows and 32 bytes an event.
//
// Thread rules: one thread.
#pragma once

#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <atone/event.hpp>
#include <atone/ids.hpp>
#include <atone/records.hpp>
#include <atone/result.hpp>
#include <atone/retention.hpp>

namespace atone {

class journal_dump {
 public:
  static constexpr std::size_t line_max = std::size_t{256} << 20U;  // bytes of one row's line

  // Reads all of `from`, which errors call `name`; `folder` has room for the events (as much as the dump has of them). Errors: corrupt
  // (no dump of that kind, cut off, another migration than this build's, a table that is not there, a row that can't be read, events of a
  // saga without a row), each with the line or the saga and what was expected; unavailable (the folder takes no file).
  static result<std::unique_ptr<journal_dump>> read(std::istream& from, std::string const& name, std::string const& folder);

  ~journal_dump();
  journal_dump(journal_dump const&) = delete;
  journal_dump& operator=(journal_dump const&) = delete;

  // The newest first; without keys and outputs, which only people read.
  std::vector<saga_row> const& sagas() const noexcept;
  // Null: no such saga.
  saga_row const* find(saga_id id) const noexcept;
  // Oldest first, as the dump has them: where rows are missing, they are missing here. Errors: unavailable; corrupt (the file was
  // changed meanwhile).
  result<std::vector<event>> history(saga_id id) const;
  // Null: the dump has no such version.
  definition_row const* definition(std::string const& name, definition_version version) const noexcept;
  deletion_record const& deletions() const noexcept;

 private:
  struct impl;
  explicit journal_dump(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

}  // namespace atone
