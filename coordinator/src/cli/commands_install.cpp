// db, barrier, version, completion, reference.
#include <atone/journal.hpp>
#include <atone/json.hpp>
#include <atone/participant.hpp>

#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/reference.hpp"
#include "cli/version.hpp"

namespace atone::cli {
namespace {

void print_status(schema_status const& status, store const& of, arguments const& typed, surroundings const& with) {
  if (with.wants_json(typed)) {
    json::writer out;
    out.begin_object().key("store").string(of.description());
    out.key("found").number(std::uint64_t{status.found}).key("expected").number(std::uint64_t{status.expected}).end_object();
    with.screen.out() << out.take() << '\n';
    return;
  }
  with.screen.out() << printable(of.description()) << ": tables at " << status.found << ", this build expects " << status.expected << '\n';
}

}  // namespace

exit_code run_db(arguments const& typed, surroundings const& with) {
  auto const action = typed.get("ACTION");
  if (action != "migrate" && action != "status") {
    return report({errc::invalid_argument, "db '" + action + "': expected migrate or status"}, with);
  }
  auto const opened = open_store(typed.get("store", with.store));
  if (!opened) return report(opened.error(), with);
  auto& store = **opened;
  if (action == "migrate") {
    auto const done = store.migrate();
    if (!done) return report(done.error(), with);
  }
  auto const status = store.status();
  if (!status) return report(status.error(), with);
  print_status(*status, store, typed, with);
  return status->found == status->expected ? exit_code::done : exit_code::negative;
}

exit_code run_barrier(arguments const& typed, surroundings const& with) {
  auto const dialect = typed.get("dialect", "postgresql");
  auto const sql = participant::barrier_sql(dialect);
  if (sql.empty()) return report({errc::invalid_argument, "--dialect '" + dialect + "': expected postgresql or sqlite"}, with);
  with.screen.out() << sql;
  return exit_code::done;
}

exit_code run_completion(arguments const& typed, surroundings const& with) {
  auto const script = completion_script(typed.get("SHELL"));
  if (script.empty()) return report({errc::invalid_argument, "'" + typed.get("SHELL") + "': expected bash, zsh or fish"}, with);
  with.screen.out() << script;
  return exit_code::done;
}

exit_code run_reference(arguments const&, surroundings const& with) {
  with.screen.out() << reference_page();
  return exit_code::done;
}

exit_code run_version(arguments const&, surroundings const& with) {
  with.screen.out() << "atone " << version << '\n';
  return exit_code::done;
}

}  // namespace atone::cli
