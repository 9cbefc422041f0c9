// A step that does something: `call` or `sql`.
#include <atone/yaml/fields.hpp>
#include <atone/yaml/scalars.hpp>

#include "yaml/schemas.hpp"
#include "yaml/steps.hpp"
#include "yaml/targets.hpp"

namespace atone::yaml {
namespace {

// A flag that is absent or false declares nothing.
std::optional<spot> declared(spot const& at, std::string_view key, report& out) {
  auto const flag = field(at, key);
  if (!flag || !read_flag(*flag, out).value_or(true)) return std::nullopt;
  return flag;
}

void read_declarations(spot const& at, step_note& note, report& out) {
  note.compensate = field(at, "compensate");
  note.pivot = declared(at, "pivot", out);
  note.retriable = declared(at, "retriable", out);
  note.read_only = declared(at, "read_only", out);
  note.fallback = field(at, "fallback");
}

// Both given here and contradictory; inherited ones give way to the step's own.
void reconcile_timeouts(spot const& at, action_verb& into, report& out) {
  if (!into.timeout || into.attempt_timeout <= *into.timeout) return;
  auto const own_attempt = field(at, "attempt_timeout");
  if (own_attempt && field(at, "timeout")) {
    out.mistake(*own_attempt, "one attempt may take " + format_duration(into.attempt_timeout) +
                                  ", longer than the whole step's timeout of " + format_duration(*into.timeout));
  }
  if (own_attempt) {
    into.timeout = into.attempt_timeout;
  } else {
    into.attempt_timeout = *into.timeout;
  }
}

void read_timing(spot const& at, action_verb& into, reading& with) {
  into.attempt_timeout = with.defaults.attempt_timeout;
  into.timeout = with.defaults.timeout;
  into.retry = with.defaults.retry;
  if (auto const value = field(at, "attempt_timeout"))
    into.attempt_timeout = read_duration(*value, with.out).value_or(into.attempt_timeout);
  if (auto const value = field(at, "timeout")) {
    if (auto const read = read_duration(*value, with.out)) into.timeout = *read;
  }
  if (auto const value = field(at, "retry")) into.retry = read_retry(*value, into.retry, with.out);
  reconcile_timeouts(at, into, with.out);
}

void warn_unlimited(spot const& at, action_verb const& of, step_note const& note, reading& with) {
  if (of.retry.attempts || of.timeout || with.deadline_given || note.retriable) return;
  with.out.warning(at->at, at.path,
                   "step `" + note.id + "` is retried without a limit of its own, and the saga's deadline is the default of 24h",
                   "give it `timeout` or `retry: {attempts: …}`, or the saga a `deadline`");
}

void warn_without_effect(spot const& at, step_note const& note, report& out) {
  if (!note.retriable) return;
  if (auto const timeout = field(at, "timeout")) {
    out.warning((*timeout)->at, timeout->path, "`timeout` has no effect: a retriable step is repeated until done");
  }
  auto const retry = field(at, "retry");
  auto const attempts = retry && (*retry)->is_map() ? field(*retry, "attempts") : std::nullopt;
  if (attempts) out.warning((*attempts)->at, attempts->path, "`attempts` has no effect: a retriable step is repeated until done");
}

expr::type read_in(spot const& at, expression_scope const& names, value_template& into, report& out) {
  into = value_template::fields({});
  auto const value = field(at, "in");
  if (!value) return expr::type::object_of({}, false);
  auto built = read_template(*value, names, out);
  if (!built) return expr::type{};
  into = std::move(built->what);
  return built->type;
}

expr::type read_out(spot const& at, action_verb& into, report& out) {
  auto const schema = field(at, "out");
  if (schema) into.out = read_schema(*schema, out);
  return into.out ? into.out->static_type() : expr::type{};
}

}  // namespace

action_verb read_action(spot const& at, expression_scope const& names, reading& with, step_note& note, visible_step& seen) {
  action_verb made;
  auto const call = field(at, "call");
  auto const verb = call ? *call : *field(at, "sql");
  auto what = call ? read_call(verb, with.services, with.out) : read_sql(verb, with.out);
  auto const in_type = read_in(at, names, made.in, with.out);
  if (what) {
    check_target_input(*what, verb, field(at, "in"), with.out);
    made.what = std::move(*what);
  }
  auto const out_type = read_out(at, made, with.out);
  read_timing(at, made, with);
  read_declarations(at, note, with.out);
  seen.has_output = true;
  seen.out = out_type;
  if (note.compensate) made.compensate = read_compensation(*note.compensate, names, in_type, out_type, with);
  if (note.fallback) {
    auto fallback = read_fallback(*note.fallback, names, made, in_type, with);
    made.fallback = std::move(fallback.what);
    if (!fallback.keeps_type) seen.out = expr::type{};
  }
  warn_unlimited(at, made, note, with);
  warn_without_effect(at, note, with.out);
  return made;
}

}  // namespace atone::yaml
