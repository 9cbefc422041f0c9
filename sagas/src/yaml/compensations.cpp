// `compensate`: how a step is undone.
#include <atone/yaml/fields.hpp>

#include "yaml/keys.hpp"
#include "yaml/steps.hpp"
#include "yaml/targets.hpp"

namespace atone::yaml {
namespace {

std::optional<target> read_undo(spot const& at, spot& verb, reading& with) {
  auto const call = field(at, "call");
  auto const sql = field(at, "sql");
  if (call && sql) {
    with.out.mistake(*sql, "the compensation has both `call` and `sql`", "one of them");
    return std::nullopt;
  }
  if (call) {
    verb = *call;
    return read_call(*call, with.services, with.out);
  }
  if (sql) {
    verb = *sql;
    return read_sql(*sql, with.out);
  }
  if (field(at, "emit")) return std::nullopt;  // told already: not yet
  with.out.mistake(at, "the compensation does nothing: neither `call` nor `sql`");
  return std::nullopt;
}

}  // namespace

std::optional<compensation> read_compensation(spot const& at, expression_scope names, expr::type in_type, expr::type out_type,
                                              reading& with) {
  if (!at->is_map()) {
    with.out.mistake(at, "found " + describe(*at) + "; expected a map with `call` or `sql`",
                     "a step without undoing is a `pivot`, `retriable` or `read_only`");
    return std::nullopt;
  }
  check_keys(at, compensate_keys, with.out);
  auto const policy = read_compensation_policy(at, with.defaults.compensate, with.out);
  compensation made;
  made.retry = policy.retry;
  made.attempt_timeout = policy.attempt_timeout;
  made.limit = policy.limit;
  made.in = value_template::fields({});
  names.names.insert_or_assign("in", std::move(in_type));
  names.names.insert_or_assign("out", std::move(out_type));
  auto const in = field(at, "in");
  auto verb = at;
  auto what = read_undo(at, verb, with);
  if (what) check_target_input(*what, verb, in, with.out);
  if (in) {
    auto built = read_template(*in, names, with.out);
    if (!built) return std::nullopt;
    made.in = std::move(built->what);
  }
  if (!what) return std::nullopt;
  made.what = std::move(*what);
  return made;
}

}  // namespace atone::yaml
