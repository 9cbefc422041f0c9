// start, wait, list.
#include <atone/load.hpp>

#include "cli/command.hpp"
#include "cli/daemon_client.hpp"
#include "cli/figures.hpp"
#include "cli/saga_access.hpp"
#include "cli/saga_name.hpp"
#include "cli/table.hpp"
#include "cli/wire.hpp"

namespace atone::cli {
namespace {

// -i JSON, -i @FILE or -i -.
result<std::string> typed_input(arguments const& typed, surroundings const& with) {
  auto const text = typed.get("input", "{}");
  auto read = text == "-" ? read_text("-", with) : text.starts_with('@') ? read_text(text.substr(1), with) : result<std::string>{text};
  if (!read) return read;
  auto const parsed = json::parse(*read);
  if (parsed) return read;
  return error{errc::invalid_argument, "--input is not JSON: " + parsed.error().message};
}

exit_code wait_and_print(std::string const& id, duration timeout, arguments const& typed, surroundings const& with) {
  auto const ended = wait_for_saga(id, timeout, with);
  if (!ended) return report(ended.error(), with);
  if (with.wants_json(typed)) {
    with.screen.out() << ended->raw() << '\n';
  } else {
    print_outcome(*ended, with.screen);
  }
  return exit_code_of(read_saga(*ended).status);
}

result<json::value> send_start(arguments const& typed, std::string input, surroundings const& with) {
  target to{"/v1/sagas"};
  add_saga_name(to, typed.get("NAME"));
  header_fields headers;
  if (typed.has("key")) headers.emplace_back("Idempotency-Key", typed.get("key"));
  return daemon_client{with}.post(to, std::move(input), std::move(headers));
}

void print_list(json::value const& list, surroundings const& with) {
  table out{{"id", "saga", "status", "started (UTC)", "took", "key", "cause"}};
  for (auto const& one : elements_of(list, "sagas")) {
    auto const row = read_saga(one);
    auto const until = row.ended_at.value_or(with.now());
    out.add({row.id.text(), printable(row.definition.name) + "@" + std::to_string(row.definition.version.value()),
             std::string{name(row.status)}, readable(row.started_at),
             readable(std::chrono::duration_cast<duration>(until - row.started_at)), printable(row.key.value()), printable(row.cause)});
  }
  out.print(with.screen);
}

}  // namespace

exit_code run_start(arguments const& typed, surroundings const& with) {
  auto input = typed_input(typed, with);
  if (!input) return report(input.error(), with);
  auto const timeout = typed_duration(typed, "timeout", "1m");
  if (!timeout) return report(timeout.error(), with);
  auto const answer = send_start(typed, std::move(*input), with);
  if (!answer) {
    auto what = answer.error();
    bool const may_run = what.code == errc::outcome_unknown;
    if (may_run) what.message += typed.has("key") ? "; the key makes it safe to repeat" : "; the saga may have been started";
    return report(what, with);
  }
  auto const id = text_of(*answer, "id");
  bool const waits = typed.has("wait");
  if (with.wants_json(typed)) {
    if (!waits) with.screen.out() << answer->raw() << '\n';
  } else {
    with.screen.out() << (flag_of(*answer, "replayed") ? "already started " : "started ") << printable(id)
                      << (flag_of(*answer, "gone") ? ", which has ended and was deleted after its retention" : "") << '\n';
  }
  return waits ? wait_and_print(id, *timeout, typed, with) : exit_code::done;
}

exit_code run_wait(arguments const& typed, surroundings const& with) {
  auto const timeout = typed_duration(typed, "timeout", "1m");
  if (!timeout) return report(timeout.error(), with);
  return wait_and_print(typed.get("ID"), *timeout, typed, with);
}

exit_code run_list(arguments const& typed, surroundings const& with) {
  target from{"/v1/sagas"};
  for (auto const* word : {"saga", "status", "since", "before"}) {
    if (typed.has(word)) from.query(word, typed.get(word));
  }
  if (typed.has("key-prefix")) from.query("key_prefix", typed.get("key-prefix"));
  from.query("limit", typed.get("limit", "20"));
  auto const answer = daemon_client{with}.get(from);
  if (!answer) return report(answer.error(), with);
  if (with.wants_json(typed)) {
    with.screen.out() << answer->raw() << '\n';
  } else {
    print_list(*answer, with);
  }
  return exit_code::done;
}

}  // namespace atone::cli
