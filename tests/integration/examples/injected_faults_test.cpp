// What each fault on purpose looks like from outside, and what it leaves in the tables.
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orders/orders.hpp"
#include "services_support.hpp"

namespace examples_test {
namespace {

using atone::transport_failure;
using namespace std::chrono_literals;

TEST(injected_fault, fail_answers_503_and_does_nothing) {
  service_under_test orders{orders::define(), {"--faults", "fail=1"}};
  EXPECT_EQ(orders.send("POST", "/orders", order_body(1), {saga(1), "order"}).response.status, 503);
  EXPECT_EQ(orders.applied({saga(1), "order"}), -1);
  EXPECT_EQ(orders.figures().faults[static_cast<std::size_t>(kit::fault_kind::fail)], 1U);
}

TEST(injected_fault, drop_does_the_work_and_says_nothing) {
  service_under_test orders{orders::define(), {"--faults", "drop=1"}};
  EXPECT_EQ(orders.send("POST", "/orders", order_body(1), {saga(1), "order"}).failure, transport_failure::lost);
  EXPECT_EQ(orders.applied({saga(1), "order"}), 1);
}

TEST(injected_fault, hang_does_nothing_and_closes) {
  service_under_test orders{orders::define(), {"--faults", "hang=1:50ms"}};
  auto const began = std::chrono::steady_clock::now();
  EXPECT_EQ(orders.send("POST", "/orders", order_body(1), {saga(1), "order"}).failure, transport_failure::lost);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 50ms);
  EXPECT_EQ(orders.applied({saga(1), "order"}), -1);
}

TEST(injected_fault, a_hang_outlasts_the_callers_patience) {
  service_under_test orders{orders::define(), {"--faults", "hang=1:10s"}};
  EXPECT_EQ(orders.send("POST", "/orders", order_body(1), {saga(1), "order"}, 100ms).failure, transport_failure::timeout);
}

TEST(injected_fault, late_does_the_work_and_answers_later) {
  service_under_test orders{orders::define(), {"--faults", "late=1:50ms"}};
  auto const began = std::chrono::steady_clock::now();
  EXPECT_EQ(orders.send("POST", "/orders", order_body(1), {saga(1), "order"}).response.status, 200);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 50ms);
  EXPECT_EQ(orders.applied({saga(1), "order"}), 1);
}

TEST(injected_fault, twice_is_swallowed_by_the_barrier) {
  service_under_test orders{orders::define(), {"--faults", "twice=1"}};
  EXPECT_EQ(orders.send("POST", "/orders", order_body(1), {saga(1), "order"}).response.body, R"({"order_id":1})");
  EXPECT_EQ(orders.applied({saga(1), "order"}), 1);
  EXPECT_EQ(orders.figures().done, 1U);
  EXPECT_EQ(orders.figures().duplicates, 1U);
}

TEST(injected_fault, refuse_is_a_stored_refusal_of_the_action_only) {
  service_under_test orders{orders::define(), {"--faults", "refuse=1"}};
  auto const refused = orders.send("POST", "/orders", order_body(1), {saga(1), "order"});
  EXPECT_EQ(refused.response.status, 409);
  EXPECT_EQ(orders.send("POST", "/orders", order_body(1), {saga(1), "order", "do", "2"}).response.body, refused.response.body);
  EXPECT_EQ(orders.send("DELETE", "/orders/1", "", {saga(1), "order", "compensate"}).response.status, 200);
  EXPECT_EQ(orders.applied({saga(1), "order"}), 0);
  EXPECT_EQ(orders.applied({saga(1), "order", "compensate"}), 0);
}

TEST(injected_fault, readings_meet_none) {
  service_under_test orders{orders::define(), {"--faults", "fail=1"}};
  EXPECT_EQ(orders.get("/health").response.status, 200);
  EXPECT_EQ(orders.get("/totals").response.status, 200);
}

TEST(injected_fault, a_service_stops_while_requests_hang) {
  service_under_test orders{orders::define(), {"--faults", "hang=1:100ms"}};
  std::thread caller{[&] { orders.send("POST", "/orders", order_body(1), {saga(1), "order"}); }};
  while (orders.figures().requests == 0) std::this_thread::yield();
  orders.running().stop();
  caller.join();
  EXPECT_EQ(orders.send("POST", "/orders", order_body(2), {saga(2), "order"}).failure, transport_failure::connect);
}

}  // namespace
}  // namespace examples_test
