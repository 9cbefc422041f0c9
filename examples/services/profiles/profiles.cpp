#include "profiles.hpp"

#include <limits>

#include <atone/json.hpp>

#include "kit/sql.hpp"

namespace profiles {
namespace {

using atone::errc;
using atone::error;
using atone::result;
using atone::participant::answer;
using atone::participant::sql_session;
using kit::request_context;

constexpr std::size_t tag_size_max = 64;  // bytes

std::string schema(std::string_view serial) {
  std::string const key{serial};
  return "create table if not exists users (user_id bigint primary key, tag text not null, spending bigint not null);"
         "create table if not exists spending_ledger (id " +
         key +
         ", user_id bigint not null, added bigint not null,"
         " spending_before bigint not null, spending_after bigint not null, saga text not null, step text not null, op text not null);"
         "create index if not exists spending_ledger_by_mark on spending_ledger (saga, step, op);"
         "create table if not exists tag_changes (id " +
         key +
         ", user_id bigint not null, tag_before text not null, tag_after text not null,"
         " saga text not null, step text not null, op text not null);"
         "create index if not exists tag_changes_by_mark on tag_changes (saga, step, op);";
}

// Makes the user's row when it is missing, and locks it: what is read afterwards stays true until the commit.
std::string lock_user(kit::script& run, std::string const& user) {
  run.run("insert into users (user_id, tag, spending) values (cast($1 as bigint), 'new', 0) on conflict (user_id) do nothing", {user});
  return kit::first(run.run("update users set tag = tag where user_id = cast($1 as bigint) returning tag", {user}), "tag");
}

result<answer> set_tag(sql_session& session, request_context const& context) {
  auto const user = context.integer("user");
  if (!user) return user.error();
  auto const tag = context.text("tag");
  if (!tag) return tag.error();
  if (tag->empty() || tag->size() > tag_size_max) return error{errc::invalid_argument, "field 'tag': expected 1 to 64 bytes"};
  auto const id = std::to_string(*user);
  kit::script run{session};
  auto const before = lock_user(run, id);
  run.run("update users set tag = $2 where user_id = cast($1 as bigint)", {id, *tag});
  run.run("insert into tag_changes (user_id, tag_before, tag_after, saga, step, op) values (cast($1 as bigint), $2, $3, $4, $5, $6)",
          kit::marked(context, {id, before, *tag}));
  if (!run.outcome()) return run.outcome().error();
  atone::json::writer to;
  to.begin_object().key("user").number(*user).key("tag").string(*tag).end_object();
  return answer::done(to.take());
}

result<answer> add_spending(sql_session& session, request_context const& context, std::int64_t limit) {
  auto const user = context.integer("user");
  if (!user) return user.error();
  auto const add = context.integer("add");
  if (!add) return add.error();
  if (*add > limit) return answer::no(kit::error_body("spending limit reached"));
  auto const id = std::to_string(*user);
  auto const amount = std::to_string(*add);
  kit::script run{session};
  lock_user(run, id);
  auto const after = kit::first(run.run("update users set spending = spending + cast($2 as bigint),"
                                        " tag = case when cast($2 as bigint) > 0 then 'current' else tag end"
                                        " where user_id = cast($1 as bigint) returning spending",
                                        {id, amount}),
                                "spending");
  run.run(
      "insert into spending_ledger (user_id, added, spending_before, spending_after, saga, step, op) values (cast($1 as bigint),"
      " cast($2 as bigint), cast($3 as bigint) - cast($2 as bigint), cast($3 as bigint), $4, $5, $6)",
      kit::marked(context, {id, amount, after}));
  if (!run.outcome()) return run.outcome().error();
  return answer::done("{\"user\":" + id + ",\"spending\":" + after + "}");
}

result<std::optional<std::string>> get_user(sql_session& session, request_context const& context) {
  auto const user = context.integer("user");
  if (!user) return user.error();
  auto const rows = session.execute("select tag, spending from users where user_id = cast($1 as bigint)", {std::to_string(*user)});
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<std::string>{};
  atone::json::writer to;
  to.begin_object().key("user").number(*user).key("tag").string(kit::first(*rows, "tag"));
  to.key("spending").raw(kit::first(*rows, "spending")).end_object();
  return std::optional<std::string>{to.take()};
}

// The service's own books: the users' spending and the ledger's sum must be equal, and equal to the completed orders' sum.
result<std::optional<std::string>> totals(sql_session& session, request_context const&) {
  kit::script run{session};
  auto const users = run.run("select count(*) as users, coalesce(sum(spending), 0) as spending from users", {});
  auto const ledger = run.run("select coalesce(sum(added), 0) as added from spending_ledger", {});
  if (!run.outcome()) return run.outcome().error();
  return std::optional<std::string>{"{\"users\":" + kit::first(users, "users") + ",\"spending\":" + kit::first(users, "spending") +
                                    ",\"ledger\":" + kit::first(ledger, "added") + "}"};
}

result<std::vector<kit::route>> routes(kit::service_options const& options) {
  using kit::route;
  auto const& text = options.extra(limit_flag);
  auto const limit = kit::parse_number(text, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (!limit) return error{errc::invalid_argument, std::string{limit_flag} + ": found '" + text + "', expected a whole number"};
  auto const most = static_cast<std::int64_t>(*limit);
  auto const add = [most](sql_session& session, request_context const& context) { return add_spending(session, context, most); };
  return std::vector{route::changes("PUT", "/users/{user}/tag", set_tag), route::changes("POST", "/users/{user}/spending", add),
                     route::reads("/users/{user}", get_user), route::reads("/totals", totals)};
}

}  // namespace

kit::service_definition define() {
  kit::service_definition made;
  made.name = "profiles";
  made.extras = {
      kit::extra_flag{std::string{limit_flag}, "15000", "what one order may add, in minor units; above it the order is refused"}};
  made.schema = schema;
  made.evidence = {"spending_ledger", "tag_changes"};
  made.routes = routes;
  return made;
}

}  // namespace profiles
