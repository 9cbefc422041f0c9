#include "orders.hpp"

#include <algorithm>
#include <utility>

#include <atone/json.hpp>
#include <atone/time.hpp>

#include "kit/sql.hpp"

namespace orders {
namespace {

using atone::errc;
using atone::error;
using atone::result;
using atone::participant::answer;
using atone::participant::sql_session;
using kit::request_context;

std::string schema(std::string_view serial) {
  std::string const key{serial};
  return "create table if not exists orders (order_id bigint primary key, user_id bigint not null, amount bigint not null,"
         " quantity bigint not null, placed_at bigint not null, status text not null, saga text not null);"
         "create index if not exists orders_by_user on orders (user_id, placed_at);"
         "create table if not exists order_changes (id " +
         key +
         ", order_id bigint not null, change text not null,"
         " saga text not null, step text not null, op text not null);"
         "create index if not exists order_changes_by_mark on order_changes (saga, step, op);"
         "create table if not exists announcements (id " +
         key +
         ", order_id bigint not null, change text not null,"
         " saga text not null, step text not null, op text not null);"
         "create index if not exists announcements_by_mark on announcements (saga, step, op);";
}

struct new_order {
  std::int64_t id = 0, user = 0, amount = 0, quantity = 0, placed_at = 0;
};

result<new_order> read_order(request_context const& context) {
  new_order made;
  for (auto const& [name, into] : {std::pair{"order_id", &made.id}, std::pair{"user", &made.user}, std::pair{"amount", &made.amount},
                                   std::pair{"quantity", &made.quantity}}) {
    auto const value = context.integer(name);
    if (!value) return value.error();
    *into = *value;
  }
  if (made.amount < 0)
    return error{errc::invalid_argument, "field 'amount': found " + std::to_string(made.amount) + ", expected 0 or more"};
  auto const placed = context.text("placed_at");
  if (!placed) return placed.error();
  auto const at = atone::parse_timestamp(*placed);
  if (!at) return error{errc::invalid_argument, "field 'placed_at': found '" + *placed + "', expected a time as 2026-11-30T13:37:00Z"};
  made.placed_at = at->time_since_epoch().count();
  return made;
}

result<answer> create(sql_session& session, request_context const& context) {
  auto const order = read_order(context);
  if (!order) return order.error();
  auto const id = std::to_string(order->id);
  kit::script run{session};
  auto const known = run.run("select status from orders where order_id = cast($1 as bigint)", {id});
  if (!known.empty()) return answer::no(kit::error_body("order " + id + " exists already (" + kit::first(known, "status") + ")"));
  run.run(
      "insert into orders (order_id, user_id, amount, quantity, placed_at, status, saga) values (cast($1 as bigint), cast($2 as bigint),"
      " cast($3 as bigint), cast($4 as bigint), cast($5 as bigint), 'open', $6)",
      {id, std::to_string(order->user), std::to_string(order->amount), std::to_string(order->quantity), std::to_string(order->placed_at),
       context.call.saga});
  run.run("insert into order_changes (order_id, change, saga, step, op) values (cast($1 as bigint), 'created', $2, $3, $4)",
          kit::marked(context, {id}));
  if (!run.outcome()) return run.outcome().error();
  return answer::done("{\"order_id\":" + id + "}");
}

// The barrier lets this through only after the order's creation, so an order that is missing here is a fault of ours: an error, not a
// refusal.
result<answer> cancel(sql_session& session, request_context const& context) {
  auto const order = context.integer("order_id");
  if (!order) return order.error();
  auto const id = std::to_string(*order);
  kit::script run{session};
  auto const changed =
      run.run("update orders set status = 'cancelled' where order_id = cast($1 as bigint) and status = 'open' returning order_id", {id});
  run.run("insert into order_changes (order_id, change, saga, step, op) values (cast($1 as bigint), 'cancelled', $2, $3, $4)",
          kit::marked(context, {id}));
  if (!run.outcome()) return run.outcome().error();
  if (changed.empty()) return error{errc::internal, "order " + id + " is not open"};
  return answer::done("{\"order_id\":" + id + "}");
}

kit::business announcement(std::string change) {
  return [change = std::move(change)](sql_session& session, request_context const& context) -> result<answer> {
    auto const order = context.integer("order_id");
    if (!order) return order.error();
    auto const id = std::to_string(*order);
    kit::script run{session};
    run.run("insert into announcements (order_id, change, saga, step, op) values (cast($1 as bigint), $2, $3, $4, $5)",
            kit::marked(context, {id, change}));
    if (!run.outcome()) return run.outcome().error();
    return answer::done("{\"order_id\":" + id + ",\"announcement\":\"" + change + "\"}");
  };
}

void write_order(atone::json::writer& to, atone::participant::row const& of) {
  auto const column = [&of](std::string_view name) { return of.find(name)->second.value_or("null"); };
  to.begin_object();
  for (std::string_view const name : {"order_id", "amount", "quantity"}) to.key(name).raw(column(name));
  atone::timestamp const at{atone::duration{std::stoll(column("placed_at"))}};
  to.key("placed_at").string(atone::format_timestamp(at)).key("status").string(column("status")).end_object();
}

result<std::optional<std::string>> list_orders(sql_session& session, request_context const& context) {
  auto const user = context.integer("user");
  if (!user) return user.error();
  auto const limit = context.query_number("limit", listed_max, listed_max);
  if (!limit) return limit.error();
  auto const wanted = context.query.find("as_of");
  auto const as_of = wanted == context.query.end() ? atone::timestamp::max() : atone::parse_timestamp(wanted->second);
  if (!as_of) return error{errc::invalid_argument, "as_of: found '" + wanted->second + "', expected a time as 2026-11-30T13:37:00Z"};
  auto const rows = session.execute(
      "select order_id, amount, quantity, placed_at, status from orders where user_id = cast($1 as bigint) and status = 'open'"
      " and placed_at <= cast($2 as bigint) order by placed_at desc, order_id desc limit cast($3 as bigint)",
      {std::to_string(*user), std::to_string(as_of->time_since_epoch().count()), std::to_string(*limit + 1)});
  if (!rows) return rows.error();
  auto const kept = std::min(rows->size(), static_cast<std::size_t>(*limit));
  atone::json::writer to;
  to.begin_object().key("user").number(*user).key("orders").begin_array();
  for (std::size_t at = 0; at < kept; ++at) write_order(to, (*rows)[at]);
  to.end_array().key("truncated").boolean(rows->size() > kept).end_object();
  return std::optional<std::string>{to.take()};
}

result<std::optional<std::string>> get_order(sql_session& session, request_context const& context) {
  auto const order = context.integer("order_id");
  if (!order) return order.error();
  auto const rows = session.execute("select order_id, amount, quantity, placed_at, status from orders where order_id = cast($1 as bigint)",
                                    {std::to_string(*order)});
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<std::string>{};
  atone::json::writer to;
  write_order(to, rows->front());
  return std::optional<std::string>{to.take()};
}

// The service's own books: what an end-to-end check compares with the journal.
result<std::optional<std::string>> totals(sql_session& session, request_context const&) {
  auto const rows =
      session.execute("select status, count(*) as orders, coalesce(sum(amount), 0) as amount from orders group by status", {});
  if (!rows) return rows.error();
  atone::json::writer to;
  to.begin_object();
  for (auto const& each : *rows) {
    to.key(each.find("status")->second.value_or("")).begin_object();
    to.key("orders")
        .raw(each.find("orders")->second.value_or("0"))
        .key("amount")
        .raw(each.find("amount")->second.value_or("0"))
        .end_object();
  }
  to.end_object();
  return std::optional<std::string>{to.take()};
}

result<std::vector<kit::route>> routes(kit::service_options const&) {
  using kit::route;
  return std::vector{route::changes("POST", "/orders", create),
                     route::changes("DELETE", "/orders/{order_id}", cancel),
                     route::changes("POST", "/announcements/{order_id}", announcement("announced")),
                     route::changes("DELETE", "/announcements/{order_id}", announcement("withdrawn")),
                     route::reads("/orders/{order_id}", get_order),
                     route::reads("/users/{user}/orders", list_orders),
                     route::reads("/totals", totals)};
}

}  // namespace

kit::service_definition define() {
  kit::service_definition made;
  made.name = "orders";
  made.schema = schema;
  made.evidence = {"order_changes", "announcements"};
  made.routes = routes;
  return made;
}

}  // namespace orders
