#include "recompute.hpp"

#include <atone/http.hpp>
#include <atone/json.hpp>
#include <atone/percent.hpp>

namespace features {
namespace {

using atone::errc;
using atone::error;
using atone::result;
using namespace atone::features;

constexpr atone::duration fetch_timeout = std::chrono::seconds{2};

error unusable(std::string const& what) {
  return error{errc::unavailable, "the order service's answer can't be used: " + what};
}

// One order as a row. Texts are kept in `texts`, which the cells look into.
std::vector<cell> read_order(feature_set const& set, std::int64_t user, atone::json::value const& order, std::vector<std::string>& texts) {
  std::vector<cell> cells(set.columns.size());
  texts.assign(cells.size(), "");
  for (std::size_t at = 0; at < cells.size(); ++at) {
    auto const field = order.find(set.columns[at].name);
    if (at == set.entity) {
      cells[at] = user;
    } else if (field && !field->is_null()) {
      texts[at] = field->type() == atone::json::kind::string ? field->as_string() : std::string{field->raw()};
      cells[at] = std::string_view{texts[at]};
    }
  }
  return cells;
}

// The features of `user` from a store that holds nobody else.
result<std::string> features_of(feature_engine const& engine, event_table const& events, std::int64_t user, atone::timestamp as_of) {
  auto const store = sort_events(engine.set(), events);
  if (!store) return store.error();
  std::vector<feature_moment> const wanted{feature_moment{store->find(user), as_of, as_of}};
  auto const table = engine.at(*store, wanted);
  if (!table) return table.error();
  return to_json(engine.set(), *store, *table, 0, as_of);
}

}  // namespace

result<engine_ptr> make_engine(std::string_view yaml, std::string_view file) {
  auto const read = load_feature_set(yaml);
  std::string said;
  for (auto const& one : read.diagnostics) said += (said.empty() ? "" : "\n") + atone::format(one, file);
  if (!read.ok()) return error{errc::invalid_argument, said};
  if (read.set->columns[read.set->entity].type != column_type::integer) {
    return error{errc::invalid_argument, std::string{file} + ": the entity is a text; users are numbers here"};
  }
  return std::make_shared<feature_engine const>(read.set);
}

result<event_table> read_orders(feature_set const& set, std::int64_t user, std::string_view json) {
  auto const parsed = atone::json::parse(std::string{json});
  if (!parsed) return unusable(parsed.error().message);
  auto const rows = parsed->type() == atone::json::kind::object ? parsed->find("orders") : std::nullopt;
  if (!rows || rows->type() != atone::json::kind::array) return unusable("'orders' is missing or no array");
  event_table events{set};
  row_appender appender{set, events};
  std::vector<std::string> texts;
  for (auto const& each : rows->elements()) {
    if (each.type() != atone::json::kind::object) return unusable("an order is no object");
    if (auto const done = appender.append(read_order(set, user, each, texts)); !done) return unusable(done.error().message);
  }
  return events;
}

result<std::string> compute(feature_engine const& engine, std::string const& orders_url, std::int64_t user, atone::timestamp as_of) {
  auto const url = orders_url + "/users/" + std::to_string(user) + "/orders?as_of=" + atone::percent_encode(atone::format_timestamp(as_of));
  auto const fetched = atone::http::fetch(url, atone::http::request{}, fetch_timeout);
  if (!fetched.ok()) return error{errc::unavailable, "the order service can't be reached: " + fetched.detail};
  if (fetched.response.status != 200) return unusable("status " + std::to_string(fetched.response.status));
  auto const events = read_orders(engine.set(), user, fetched.response.body);
  if (!events) return events.error();
  return features_of(engine, *events, user, as_of);
}

std::string compute_empty(feature_engine const& engine, atone::timestamp as_of) {
  auto made = features_of(engine, event_table{engine.set()}, 0, as_of);
  ATONE_ASSERT(made.has_value());
  return *std::move(made);
}

}  // namespace features
