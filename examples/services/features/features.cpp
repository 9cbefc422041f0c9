#include "features.hpp"

#include <fstream>
#include <iterator>

#include <atone/http.hpp>
#include <atone/json.hpp>

#include "kit/sql.hpp"
#include "recompute.hpp"

namespace features {
namespace {

using atone::errc;
using atone::error;
using atone::result;
using atone::features::feature_engine;
using atone::participant::answer;
using atone::participant::sql_session;
using kit::request_context;

std::string schema(std::string_view serial) {
  return "create table if not exists feature_users (user_id bigint primary key, last_version bigint not null);"
         "create table if not exists feature_versions (id " +
         std::string{serial} +
         ", user_id bigint not null, version bigint not null, mark text not null, body text not null, withdrawn integer not null,"
         " saga text not null, step text not null, op text not null, unique (user_id, version));"
         "create index if not exists feature_versions_by_mark on feature_versions (saga, step, op);";
}

// The next version of this user's features. Locks the user's row until the commit.
std::string next_version(kit::script& run, std::string const& user) {
  return kit::first(run.run("insert into feature_users (user_id, last_version) values (cast($1 as bigint), 1)"
                            " on conflict (user_id) do update set last_version = feature_users.last_version + 1 returning last_version",
                            {user}),
                    "last_version");
}

struct stored_version {
  std::string user, version, mark, body;
};

std::string to_answer(stored_version const& of) {
  return "{\"user\":" + of.user + ",\"version\":" + of.version + ",\"mark\":\"" + of.mark + "\",\"features\":" + of.body + "}";
}

void store(kit::script& run, request_context const& context, stored_version const& of) {
  run.run(
      "insert into feature_versions (user_id, version, mark, body, withdrawn, saga, step, op)"
      " values (cast($1 as bigint), cast($2 as bigint), $3, $4, 0, $5, $6, $7)",
      kit::marked(context, {of.user, of.version, of.mark, of.body}));
}

result<answer> recompute(sql_session& session, request_context const& context) {
  auto const user = context.integer("user");
  if (!user) return user.error();
  kit::script run{session};
  stored_version made{std::to_string(*user), "", "current", context.prepared};
  made.version = next_version(run, made.user);
  store(run, context, made);
  if (!run.outcome()) return run.outcome().error();
  return answer::done(to_answer(made));
}

// Fetching and computing come before the transaction: none stays open across the network.
kit::preparation prepare_from(std::string orders_url, engine_ptr engine) {
  return [orders_url = std::move(orders_url), engine = std::move(engine)](request_context const& context) -> result<std::string> {
    auto const user = context.integer("user");
    if (!user) return user.error();
    auto const text = context.text("as_of");
    if (!text) return text.error();
    auto const as_of = atone::parse_timestamp(*text);
    if (!as_of) return error{errc::invalid_argument, "field 'as_of': found '" + *text + "', expected a time as 2026-11-30T13:37:00Z"};
    return compute(*engine, orders_url, *user, *as_of);
  };
}

// The newest content that is neither this saga's nor withdrawn; nobody's features where there is none.
std::string content_before(feature_engine const& engine, kit::script& run, std::string const& user, std::string const& saga) {
  auto const rows = run.run(
      "select body from feature_versions where user_id = cast($1 as bigint) and saga <> $2 and withdrawn = 0"
      " and mark = 'current' and version < (select min(version) from feature_versions where user_id = cast($1 as bigint)"
      " and saga = $2) order by version desc limit 1",
      {user, saga});
  return rows.empty() ? compute_empty(engine, atone::timestamp{}) : kit::first(rows, "body");
}

result<answer> republish(feature_engine const& engine, sql_session& session, request_context const& context) {
  auto const user = context.integer("user");
  if (!user) return user.error();
  auto const before = context.text("before");
  if (!before) return before.error();
  kit::script run{session};
  stored_version made{std::to_string(*user), "", "to_be_updated", ""};
  made.version = next_version(run, made.user);
  made.body = content_before(engine, run, made.user, *before);
  run.run("update feature_versions set withdrawn = 1 where user_id = cast($1 as bigint) and saga = $2", {made.user, *before});
  store(run, context, made);
  if (!run.outcome()) return run.outcome().error();
  return answer::done(to_answer(made));
}

result<std::optional<std::string>> serve(sql_session& session, request_context const& context) {
  auto const user = context.integer("user");
  if (!user) return user.error();
  auto const rows =
      session.execute("select version, mark, body from feature_versions where user_id = cast($1 as bigint) order by version desc limit 1",
                      {std::to_string(*user)});
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<std::string>{};
  stored_version const found{std::to_string(*user), kit::first(*rows, "version"), kit::first(*rows, "mark"), kit::first(*rows, "body")};
  return std::optional<std::string>{to_answer(found)};
}

result<std::optional<std::string>> totals(sql_session& session, request_context const&) {
  auto const rows = session.execute("select count(*) as versions, coalesce(sum(withdrawn), 0) as withdrawn from feature_versions", {});
  if (!rows) return rows.error();
  return std::optional<std::string>{"{\"versions\":" + kit::first(*rows, "versions") + ",\"withdrawn\":" + kit::first(*rows, "withdrawn") +
                                    "}"};
}

// The set that the flag names; without it the built-in one.
result<engine_ptr> engine_of(std::string const& file) {
  if (file.empty()) return make_engine(built_in_set, "user-orders.yaml");
  std::ifstream in{file, std::ios::binary};
  if (!in) return error{errc::invalid_argument, std::string{set_flag} + ": '" + file + "' can't be read"};
  std::string const text{std::istreambuf_iterator<char>{in}, {}};
  return make_engine(text, file);
}

result<std::vector<kit::route>> routes(kit::service_options const& options) {
  using kit::route;
  auto const& orders = options.extra(orders_flag);
  if (auto const origin = atone::http::parse_origin(orders); !origin)
    return error{errc::invalid_argument, std::string{orders_flag} + ": " + origin.error().message};
  auto const made = engine_of(options.extra(set_flag));
  if (!made) return made.error();
  auto const engine = *made;
  auto const republish_with = [engine](sql_session& session, request_context const& context) {
    return republish(*engine, session, context);
  };
  return std::vector{route::changes("POST", "/recompute", recompute, prepare_from(orders, engine)),
                     route::changes("POST", "/republish", republish_with), route::reads("/features/{user}", serve),
                     route::reads("/totals", totals)};
}

}  // namespace

kit::service_definition define() {
  kit::service_definition made;
  made.name = "features";
  made.extras = {kit::extra_flag{std::string{orders_flag}, "http://127.0.0.1:7001", "where the order service is"},
                 kit::extra_flag{std::string{set_flag}, "", "feature set in YAML; left out: examples/features/user-orders.yaml"}};
  made.schema = schema;
  made.evidence = {"feature_versions"};
  made.routes = routes;
  return made;
}

}  // namespace features
