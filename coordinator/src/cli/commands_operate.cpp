// cancel, pause, resume, retry, skip, complete: one request each, with who asks and why.
#include "cli/command.hpp"
#include "cli/daemon_client.hpp"
#include "cli/saga_access.hpp"
#include "cli/wire.hpp"

namespace atone::cli {
namespace {

result<std::string> request_body(std::string_view action, arguments const& typed, surroundings const& with) {
  json::writer out;
  out.begin_object();
  for (auto const* word : {"step", "note"}) {
    if (typed.has(word)) out.key(word).string(typed.get(word));
  }
  out.key("actor").string(typed.get("actor", with.user));
  if (action == "complete") {
    auto const output = typed.get("json", "null");
    auto const parsed = json::parse(output);
    if (!parsed) return error{errc::invalid_argument, "--json is not JSON: " + parsed.error().message};
    out.key("output").raw(output);
  }
  out.end_object();
  return out.take();
}

exit_code act(std::string_view action, arguments const& typed, surroundings const& with) {
  auto const to = saga_target(typed.get("ID"), action);
  if (!to) return report(to.error(), with);
  auto body = request_body(action, typed, with);
  if (!body) return report(body.error(), with);
  auto const answer = daemon_client{with}.post(*to, std::move(*body));
  if (!answer) return report(answer.error(), with);
  if (with.wants_json(typed)) {
    with.screen.out() << answer->raw() << '\n';
  } else {
    with.screen.out() << typed.get("ID") << " is " << name(read_saga(*answer).status) << '\n';
  }
  return exit_code::done;
}

exit_code act_with_note(std::string_view action, arguments const& typed, surroundings const& with) {
  if (typed.has("note")) return act(action, typed, with);
  return report({errc::invalid_argument, "why? --note is kept in the saga's record and must be given for " + std::string{action}}, with);
}

}  // namespace

exit_code run_cancel(arguments const& typed, surroundings const& with) {
  return act("cancel", typed, with);
}
exit_code run_pause(arguments const& typed, surroundings const& with) {
  return act("pause", typed, with);
}
exit_code run_resume(arguments const& typed, surroundings const& with) {
  return act("resume", typed, with);
}
exit_code run_retry(arguments const& typed, surroundings const& with) {
  return act("retry", typed, with);
}
exit_code run_skip(arguments const& typed, surroundings const& with) {
  return act_with_note("skip", typed, with);
}
exit_code run_complete(arguments const& typed, surroundings const& with) {
  return act_with_note("complete", typed, with);
}

}  // namespace atone::cli
