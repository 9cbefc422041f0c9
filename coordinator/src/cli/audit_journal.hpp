// The journal as an audit reads it: through a daemon, from a dump of the database, or from a copy of an SQLite file.
// Thread rules: one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <atone/event.hpp>
#include <atone/ids.hpp>
#include <atone/records.hpp>
#include <atone/result.hpp>

#include "cli/command.hpp"

namespace atone::cli {

// What is not there is an empty answer, not an error.
class audit_journal {
 public:
  using visitor = std::function<void(saga_row&)>;

  virtual ~audit_journal() = default;
  // The newest saga of all.
  virtual result<std::optional<saga_id>> newest() = 0;
  // Sagas of one status, the newest first, down to `from`.
  virtual result<void> list(saga_status status, std::optional<saga_id> from, visitor const& visit) = 0;
  virtual result<std::optional<saga_row>> find(saga_id id) = 0;
  // All events of one saga, oldest first.
  virtual result<std::optional<std::vector<event>>> history(saga_id id) = 0;
  // The YAML as published. Nothing also where the journal says that it is another than that of the hash (audit_run looks for itself).
  virtual result<std::optional<std::string>> definition_text(definition_ref const& which) = 0;
  // The youngest saga that was ever deleted.
  virtual result<std::optional<saga_id>> deleted_up_to() = 0;
  // Where the journal is a picture of the past: sagas above this one may have begun since. Nothing: it is read as it is now.
  virtual std::optional<saga_id> complete_up_to() = 0;
};

std::unique_ptr<audit_journal> make_daemon_journal(surroundings const& with);
// `path` is a dump that pg_dump wrote in plain format, or a copy of an SQLite file; "-" a dump on standard input. Errors: invalid_argument
// (no such file); corrupt and the like: atone/journal_dump.hpp, atone/journal.hpp.
result<std::unique_ptr<audit_journal>> open_journal_copy(std::string const& path, surroundings const& with);

}  // namespace atone::cli
