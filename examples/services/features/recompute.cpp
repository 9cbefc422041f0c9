#include "recompute.hpp"

#include <atone/http.hpp>
#include <atone/json.hpp>
#include <atone/percent.hpp>

namespace features {
namespace {

using atone::errc;
using atone::error;
using atone::result;
using atone::features::order_event;

constexpr atone::duration fetch_timeout = std::chrono::seconds{2};

error unusable(std::string const& what) {
  return error{errc::unavailable, "the order service's answer can't be used: " + what};
}

result<order_event> read_order(atone::json::value const& row) {
  if (row.type() != atone::json::kind::object) return unusable("an order is no object");
  auto const id = row.find("order_id");
  auto const amount = row.find("amount");
  auto const placed = row.find("placed_at");
  if (!id || id->type() != atone::json::kind::number) return unusable("'order_id' is missing or no number");
  if (!amount || amount->type() != atone::json::kind::number || !amount->as_int64())
    return unusable("'amount' is missing or no whole number");
  if (!placed || placed->type() != atone::json::kind::string) return unusable("'placed_at' is missing or no text");
  auto const at = atone::parse_timestamp(placed->as_string());
  if (!at) return unusable("'placed_at' is no time");
  return order_event{std::string{id->raw()}, *at, *amount->as_int64()};
}

}  // namespace

result<std::vector<order_event>> read_orders(std::string_view json) {
  auto const parsed = atone::json::parse(std::string{json});
  if (!parsed) return unusable(parsed.error().message);
  auto const rows = parsed->type() == atone::json::kind::object ? parsed->find("orders") : std::nullopt;
  if (!rows || rows->type() != atone::json::kind::array) return unusable("'orders' is missing or no array");
  std::vector<order_event> events;
  for (auto const& each : rows->elements()) {
    auto order = read_order(each);
    if (!order) return order.error();
    events.push_back(std::move(*order));
  }
  return events;
}

result<std::string> compute(std::string const& orders_url, std::int64_t user, atone::timestamp as_of) {
  auto const url = orders_url + "/users/" + std::to_string(user) + "/orders?as_of=" + atone::percent_encode(atone::format_timestamp(as_of));
  auto const fetched = atone::http::fetch(url, atone::http::request{}, fetch_timeout);
  if (!fetched.ok()) return error{errc::unavailable, "the order service can't be reached: " + fetched.detail};
  if (fetched.response.status != 200) return unusable("status " + std::to_string(fetched.response.status));
  auto const events = read_orders(fetched.response.body);
  if (!events) return events.error();
  auto const row = atone::features::window_features(*events, as_of);
  if (!row) return row.error();
  return atone::features::to_json(*row);
}

std::string compute_empty(atone::timestamp as_of) {
  auto const row = atone::features::window_features({}, as_of);
  ATONE_ASSERT(row.has_value());
  return atone::features::to_json(*row);
}

}  // namespace features
