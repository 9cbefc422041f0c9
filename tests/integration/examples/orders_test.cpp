// The order service over real HTTP: what the coordinator sends, and what it sends twice, late or first.
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/percent.hpp>

#include "orders/orders.hpp"
#include "services_support.hpp"

namespace examples_test {
namespace {

using testing::HasSubstr;

TEST(orders_service, an_order_is_created_and_cancelled) {
  service_under_test orders{orders::define()};
  auto const made = orders.send("POST", "/orders", order_body(1), {saga(1), "order"});
  EXPECT_EQ(made.response.status, 200) << made.response.body;
  EXPECT_EQ(made.response.body, R"({"order_id":1})");
  EXPECT_EQ(orders.json("/orders/1").find("status")->as_string(), "open");
  auto const undone = orders.send("DELETE", "/orders/1", "", {saga(1), "order", "compensate"});
  EXPECT_EQ(undone.response.status, 200) << undone.response.body;
  EXPECT_EQ(orders.json("/orders/1").find("status")->as_string(), "cancelled");
  EXPECT_EQ(orders.applied({saga(1), "order"}), 1);
  EXPECT_EQ(orders.applied({saga(1), "order", "compensate"}), 1);
}

TEST(orders_service, a_second_delivery_gets_the_first_answer) {
  service_under_test orders{orders::define()};
  auto const first = orders.send("POST", "/orders", order_body(1), {saga(1), "order"});
  auto const second = orders.send("POST", "/orders", order_body(1), {saga(1), "order", "do", "2"});
  EXPECT_EQ(second.response.status, first.response.status);
  EXPECT_EQ(second.response.body, first.response.body);
  EXPECT_EQ(orders.applied({saga(1), "order"}), 1);
  EXPECT_EQ(orders.figures().duplicates, 1U);
}

TEST(orders_service, a_refusal_is_stored_too) {
  service_under_test orders{orders::define()};
  orders.send("POST", "/orders", order_body(1), {saga(1), "order"});
  auto const refused = orders.send("POST", "/orders", order_body(1), {saga(2), "order"});
  EXPECT_EQ(refused.response.status, 409);
  EXPECT_THAT(refused.response.body, HasSubstr("order 1 exists already (open)"));
  orders.send("DELETE", "/orders/1", "", {saga(1), "order", "compensate"});
  auto const again = orders.send("POST", "/orders", order_body(1), {saga(2), "order", "do", "2"});
  EXPECT_EQ(again.response.status, 409) << "the same operation keeps its answer";
  EXPECT_EQ(again.response.body, refused.response.body);
  EXPECT_EQ(orders.applied({saga(2), "order"}), 0);
}

TEST(orders_service, a_compensation_that_comes_first_stops_the_late_action) {
  service_under_test orders{orders::define()};
  auto const undone = orders.send("DELETE", "/orders/1", "", {saga(1), "order", "compensate"});
  EXPECT_EQ(undone.response.status, 200) << undone.response.body;
  auto const late = orders.send("POST", "/orders", order_body(1), {saga(1), "order"});
  EXPECT_EQ(late.response.status, 409);
  EXPECT_EQ(orders.get("/orders/1").response.status, 404);
  EXPECT_EQ(orders.applied({saga(1), "order"}), 0);
  EXPECT_EQ(orders.applied({saga(1), "order", "compensate"}), 0);
  EXPECT_EQ(orders.figures().empty, 1U);
  EXPECT_EQ(orders.figures().late_actions, 1U);
}

TEST(orders_service, two_deliveries_at_once_do_it_once) {
  service_under_test orders{orders::define()};
  std::vector<std::string> answers(8);
  std::vector<std::thread> senders;
  for (auto& answer : answers) {
    senders.emplace_back([&] { answer = orders.send("POST", "/orders", order_body(1), {saga(1), "order"}).response.body; });
  }
  for (auto& each : senders) each.join();
  for (auto const& each : answers) EXPECT_EQ(each, R"({"order_id":1})");
  EXPECT_EQ(orders.applied({saga(1), "order"}), 1);
  EXPECT_EQ(orders.figures().done, 1U);
  EXPECT_EQ(orders.figures().duplicates, 7U);
}

TEST(orders_service, announcements_are_made_and_withdrawn) {
  service_under_test orders{orders::define()};
  EXPECT_EQ(orders.send("POST", "/announcements/5", "", {saga(1), "fan/announce/announce"}).response.status, 200);
  EXPECT_EQ(orders.send("DELETE", "/announcements/5", "", {saga(1), "fan/announce/announce", "compensate"}).response.status, 200);
  EXPECT_EQ(orders.applied({saga(1), "fan/announce/announce"}), 1);
  EXPECT_EQ(orders.applied({saga(1), "fan/announce/announce", "compensate"}), 1);
}

TEST(orders_service, a_users_open_orders_are_listed_newest_first) {
  service_under_test orders{orders::define()};
  orders.send("POST", "/orders", order_body(1, 7, 100, "1997-01-01"), {saga(1), "order"});
  orders.send("POST", "/orders", order_body(2, 7, 200, "1997-03-01"), {saga(2), "order"});
  orders.send("POST", "/orders", order_body(3, 7, 300, "1997-02-01"), {saga(3), "order"});
  orders.send("POST", "/orders", order_body(4, 8, 400, "1997-02-01"), {saga(4), "order"});
  orders.send("DELETE", "/orders/3", "", {saga(3), "order", "compensate"});
  auto const all = orders.json("/users/7/orders");
  ASSERT_EQ(all.find("orders")->size(), 2U);
  EXPECT_EQ(all.find("orders")->at(0)->find("order_id")->as_int64(), 2);
  EXPECT_FALSE(all.find("truncated")->as_bool());
  EXPECT_EQ(orders.json("/users/7/orders?as_of=1997-02-15T00:00:00Z").find("orders")->size(), 1U);
  auto const cut = orders.json("/users/7/orders?limit=1");
  EXPECT_EQ(cut.find("orders")->size(), 1U);
  EXPECT_TRUE(cut.find("truncated")->as_bool());
}

TEST(orders_service, its_books_are_added_up) {
  service_under_test orders{orders::define()};
  orders.send("POST", "/orders", order_body(1, 7, 100), {saga(1), "order"});
  orders.send("POST", "/orders", order_body(2, 7, 250), {saga(2), "order"});
  orders.send("POST", "/orders", order_body(3, 7, 999), {saga(3), "order"});
  orders.send("DELETE", "/orders/3", "", {saga(3), "order", "compensate"});
  auto const totals = orders.json("/totals");
  EXPECT_EQ(totals.find("open")->find("orders")->as_int64(), 2);
  EXPECT_EQ(totals.find("open")->find("amount")->as_int64(), 350);
  EXPECT_EQ(totals.find("cancelled")->find("orders")->as_int64(), 1);
}

struct bad_request {
  std::string name, method, path, body, header_left_out, expected;
  std::int32_t status;
};
void PrintTo(bad_request const& of, std::ostream* to) {
  *to << of.name;
}

class orders_service_refuses : public testing::TestWithParam<bad_request> {};

TEST_P(orders_service_refuses, in_words) {
  service_under_test orders{orders::define()};
  auto const& bad = GetParam();
  atone::http::request what;
  what.method = bad.method;
  what.body = bad.body;
  for (auto const& [name, value] : {std::pair{"Atone-Saga", saga(1)}, std::pair{"Atone-Step", std::string{"order"}},
                                    std::pair{"Atone-Op", std::string{bad.name == "op_unknown" ? "undo" : "do"}}}) {
    if (bad.header_left_out != name) what.headers.add(name, value);
  }
  auto const came = atone::http::fetch(orders.url() + bad.path, std::move(what), std::chrono::seconds{20});
  EXPECT_EQ(came.response.status, bad.status) << came.response.body;
  EXPECT_THAT(came.response.body, HasSubstr(bad.expected));
  EXPECT_EQ(orders.json("/atone/effects").find("effects")->size(), 0U) << "nothing happened";
}

INSTANTIATE_TEST_SUITE_P(
    all, orders_service_refuses,
    testing::Values(bad_request{"no_saga", "POST", "/orders", order_body(1), "Atone-Saga", "header Atone-Saga is missing", 400},
                    bad_request{"no_step", "POST", "/orders", order_body(1), "Atone-Step", "header Atone-Step is missing", 400},
                    bad_request{"no_op", "POST", "/orders", order_body(1), "Atone-Op", "header Atone-Op is missing", 400},
                    bad_request{"op_unknown", "POST", "/orders", order_body(1), "", "header Atone-Op: found 'undo'", 400},
                    bad_request{"no_json", "POST", "/orders", "{", "", "the body is no JSON", 400},
                    bad_request{"no_body", "POST", "/orders", "", "", "field 'order_id': is missing", 400},
                    bad_request{"amount_text", "POST", "/orders",
                                R"({"order_id":1,"user":7,"amount":"9","quantity":1,"placed_at":"1997-01-01T00:00:00Z"})", "",
                                "field 'amount'", 400},
                    bad_request{"amount_negative", "POST", "/orders",
                                R"({"order_id":1,"user":7,"amount":-9,"quantity":1,"placed_at":"1997-01-01T00:00:00Z"})", "",
                                "found -9, expected 0 or more", 400},
                    bad_request{"time_wrong", "POST", "/orders",
                                R"({"order_id":1,"user":7,"amount":9,"quantity":1,"placed_at":"yesterday"})", "", "found 'yesterday'", 400},
                    bad_request{"unknown_path", "POST", "/order", order_body(1), "", "no such address: /order", 404},
                    bad_request{"wrong_method", "PUT", "/orders", order_body(1), "", "PUT is not possible here", 405}),
    [](auto const& each) { return each.param.name; });

TEST(orders_service, effects_come_in_pages) {
  service_under_test orders{orders::define()};
  for (std::uint8_t number = 1; number <= 7; ++number) orders.send("POST", "/orders", order_body(number), {saga(number), "order"});
  std::vector<std::string> seen;
  std::string after;
  for (int page = 0; page < 10; ++page) {
    auto const listed = orders.json("/atone/effects?limit=3&after=" + atone::percent_encode(after));
    for (auto const& row : listed.find("effects")->elements()) {
      seen.push_back(row.find("saga")->as_string());
      EXPECT_EQ(row.find("verdict")->as_string(), "done");
      EXPECT_EQ(row.find("applied")->as_int64(), 1);
    }
    if (listed.find("next")->is_null()) break;
    after = listed.find("next")->as_string();
  }
  ASSERT_EQ(seen.size(), 7U);
  for (std::uint8_t number = 1; number <= 7; ++number) EXPECT_EQ(seen[number - 1U], saga(number));
  EXPECT_EQ(orders.get("/atone/effects?after=xyz").response.status, 400);
  EXPECT_EQ(orders.get("/atone/effects?limit=5001").response.status, 400);
}

TEST(orders_service, health_and_figures) {
  service_under_test orders{orders::define()};
  EXPECT_EQ(orders.json("/health").find("status")->as_string(), "ok");
  orders.send("POST", "/orders", order_body(1), {saga(1), "order"});
  auto const stats = orders.json("/atone/stats");
  EXPECT_EQ(stats.find("service")->as_string(), "orders");
  EXPECT_EQ(stats.find("done")->as_int64(), 1);
  EXPECT_EQ(stats.find("faults")->find("drop")->as_int64(), 0);
}

TEST(orders_service, what_was_stored_outlives_the_process) {
  temporary_folder folder;
  auto const start = [&] {
    auto options = kit::parse_options({}, {}, "sqlite:" + folder.file("orders.db"));
    return std::move(*kit::service::start(orders::define(), std::move(*options)));
  };
  auto const create = [](kit::service const& at) {
    atone::http::request what;
    what.method = "POST";
    what.body = order_body(1);
    what.headers.add("Atone-Saga", saga(1));
    what.headers.add("Atone-Step", "order");
    what.headers.add("Atone-Op", "do");
    return atone::http::fetch("http://127.0.0.1:" + std::to_string(at.port()) + "/orders", std::move(what), std::chrono::seconds{20});
  };
  auto first = start();
  EXPECT_EQ(create(*first).response.status, 200);
  first.reset();
  auto second = start();
  EXPECT_EQ(create(*second).response.body, R"({"order_id":1})");
  EXPECT_EQ(second->figures().duplicates, 1U);
}

TEST(orders_service, a_database_that_can_not_be_had_is_named) {
  kit::service_options options;
  options.db = "sqlite:" + std::string{"no/such/folder/orders.db"};
  auto const started = kit::service::start(orders::define(), options);
  ASSERT_FALSE(started.has_value());
  EXPECT_THAT(started.error().message, HasSubstr("no/such/folder"));
}

}  // namespace
}  // namespace examples_test
