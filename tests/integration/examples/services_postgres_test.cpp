// The three services on PostgreSQL: the same words and tables as on SQLite, by one flag.
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/features.hpp"
#include "orders/orders.hpp"
#include "postgres_server.hpp"
#include "profiles/profiles.hpp"
#include "services_support.hpp"

namespace examples_test {
namespace {

using atone::test::postgres_server;

std::vector<std::string> on_postgres(std::vector<std::string> flags = {}) {
  auto& server = postgres_server::shared();
  flags.insert(flags.end(), {"--db", server.address(server.make_database())});
  return flags;
}

TEST(services_on_postgresql, an_order_saga_and_its_undo) {
  ATONE_NEED_POSTGRES();
  service_under_test orders{orders::define(), on_postgres()};
  service_under_test profiles{profiles::define(), on_postgres()};
  service_under_test features{features::define(), on_postgres({"--orders", orders.url()})};
  auto const expect_done = [](atone::http::exchange const& came) {
    EXPECT_EQ(came.response.status, 200) << came.detail << came.response.body;
  };
  expect_done(orders.send("POST", "/orders", order_body(1), {saga(1), "order"}));
  expect_done(orders.send("POST", "/announcements/1", "", {saga(1), "announce"}));
  expect_done(profiles.send("PUT", "/users/7/tag", R"({"tag":"updating"})", {saga(1), "tag"}));
  expect_done(profiles.send("POST", "/users/7/spending", R"({"add":990})", {saga(1), "profile"}));
  expect_done(features.send("POST", "/recompute", R"({"user":7,"as_of":"1997-01-02T00:00:00Z"})", {saga(1), "features"}));
  EXPECT_EQ(features.json("/features/7").find("version")->as_int64(), 1);
  expect_done(features.send("POST", "/republish", R"({"user":7,"before":")" + saga(1) + "\"}", {saga(1), "features", "compensate"}));
  expect_done(profiles.send("POST", "/users/7/spending", R"({"add":-990})", {saga(1), "profile", "compensate"}));
  expect_done(profiles.send("PUT", "/users/7/tag", R"({"tag":"to_be_updated"})", {saga(1), "tag", "compensate"}));
  expect_done(orders.send("DELETE", "/announcements/1", "", {saga(1), "announce", "compensate"}));
  expect_done(orders.send("DELETE", "/orders/1", "", {saga(1), "order", "compensate"}));
  EXPECT_EQ(profiles.json("/totals").find("spending")->as_int64(), 0);
  EXPECT_EQ(profiles.json("/users/7").find("tag")->as_string(), "to_be_updated");
  EXPECT_EQ(orders.json("/orders/1").find("status")->as_string(), "cancelled");
  EXPECT_EQ(features.json("/features/7").find("mark")->as_string(), "to_be_updated");
  for (auto const* op : {"do", "compensate"}) {
    EXPECT_EQ(orders.applied({saga(1), "order", op}), 1);
    EXPECT_EQ(profiles.applied({saga(1), "profile", op}), 1);
    EXPECT_EQ(features.applied({saga(1), "features", op}), 1);
  }
}

TEST(services_on_postgresql, many_sagas_at_once_on_one_user_lose_nothing) {
  ATONE_NEED_POSTGRES();
  service_under_test profiles{profiles::define(), on_postgres()};
  std::vector<std::thread> senders;
  for (std::uint8_t number = 1; number <= 8; ++number) {
    senders.emplace_back([&, number] {
      for (auto const* attempt : {"1", "2", "3"}) {
        profiles.send("POST", "/users/7/spending", R"({"add":100})", {saga(number), "profile", "do", attempt});
      }
    });
  }
  for (auto& each : senders) each.join();
  EXPECT_EQ(profiles.json("/users/7").find("spending")->as_int64(), 800);
  EXPECT_EQ(profiles.json("/totals").find("ledger")->as_int64(), 800);
  EXPECT_EQ(profiles.figures().done, 8U);
  EXPECT_EQ(profiles.figures().duplicates, 16U);
}

TEST(services_on_postgresql, a_late_action_is_refused) {
  ATONE_NEED_POSTGRES();
  service_under_test orders{orders::define(), on_postgres()};
  EXPECT_EQ(orders.send("DELETE", "/orders/1", "", {saga(1), "order", "compensate"}).response.status, 200);
  EXPECT_EQ(orders.send("POST", "/orders", order_body(1), {saga(1), "order"}).response.status, 409);
  EXPECT_EQ(orders.applied({saga(1), "order"}), 0);
}

}  // namespace
}  // namespace examples_test
