// The profile and the feature service over real HTTP, the latter with a real order service behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/features.hpp"
#include "features/recompute.hpp"
#include "orders/orders.hpp"
#include "profiles/profiles.hpp"
#include "services_support.hpp"

namespace examples_test {
namespace {

using testing::HasSubstr;

TEST(profiles_service, spending_goes_up_and_down_by_its_inverse) {
  service_under_test profiles{profiles::define()};
  EXPECT_EQ(profiles.send("POST", "/users/7/spending", R"({"add":990})", {saga(1), "profile"}).response.body,
            R"({"user":7,"spending":990})");
  EXPECT_EQ(profiles.send("POST", "/users/7/spending", R"({"add":10})", {saga(2), "profile"}).response.body,
            R"({"user":7,"spending":1000})");
  EXPECT_EQ(profiles.send("POST", "/users/7/spending", R"({"add":-990})", {saga(1), "profile", "compensate"}).response.body,
            R"({"user":7,"spending":10})")
      << "the other saga's change survives";
  auto const totals = profiles.json("/totals");
  EXPECT_EQ(totals.find("spending")->as_int64(), 10);
  EXPECT_EQ(totals.find("ledger")->as_int64(), 10);
}

TEST(profiles_service, the_tag_follows_the_saga) {
  service_under_test profiles{profiles::define()};
  auto const tag = [&] { return profiles.json("/users/7").find("tag")->as_string(); };
  profiles.send("PUT", "/users/7/tag", R"({"tag":"updating"})", {saga(1), "tag"});
  EXPECT_EQ(tag(), "updating");
  profiles.send("POST", "/users/7/spending", R"({"add":990})", {saga(1), "profile"});
  EXPECT_EQ(tag(), "current");
  profiles.send("POST", "/users/7/spending", R"({"add":-990})", {saga(1), "profile", "compensate"});
  profiles.send("PUT", "/users/7/tag", R"({"tag":"to_be_updated"})", {saga(1), "tag", "compensate"});
  EXPECT_EQ(tag(), "to_be_updated");
  EXPECT_EQ(profiles.applied({saga(1), "tag"}), 1);
  EXPECT_EQ(profiles.applied({saga(1), "tag", "compensate"}), 1);
}

TEST(profiles_service, an_order_above_the_limit_is_refused) {
  service_under_test profiles{profiles::define(), {"--limit", "1000"}};
  EXPECT_EQ(profiles.send("POST", "/users/7/spending", R"({"add":1000})", {saga(1), "profile"}).response.status, 200);
  auto const refused = profiles.send("POST", "/users/7/spending", R"({"add":1001})", {saga(2), "profile"});
  EXPECT_EQ(refused.response.status, 409);
  EXPECT_THAT(refused.response.body, HasSubstr("spending limit reached"));
  EXPECT_EQ(profiles.json("/users/7").find("spending")->as_int64(), 1000);
  EXPECT_EQ(profiles.figures().refused, 1U);
}

TEST(profiles_service, a_limit_that_is_no_number_is_refused_at_start) {
  auto const options = kit::parse_options({"--limit", "much"}, profiles::define().extras, "sqlite:unused.db");
  ASSERT_TRUE(options.has_value());
  auto with = *options;
  temporary_folder folder;
  with.db = "sqlite:" + folder.file("profiles.db");
  auto const started = kit::service::start(profiles::define(), with);
  ASSERT_FALSE(started.has_value());
  EXPECT_THAT(started.error().message, HasSubstr("--limit: found 'much'"));
}

TEST(profiles_service, wrong_fields_are_named) {
  service_under_test profiles{profiles::define()};
  EXPECT_THAT(profiles.send("POST", "/users/7/spending", "{}", {saga(1), "p"}).response.body, HasSubstr("field 'add': is missing"));
  EXPECT_THAT(profiles.send("POST", "/users/seven/spending", R"({"add":1})", {saga(2), "p"}).response.body, HasSubstr("'seven'"));
  EXPECT_THAT(profiles.send("PUT", "/users/7/tag", R"({"tag":""})", {saga(3), "p"}).response.body, HasSubstr("1 to 64 bytes"));
  EXPECT_EQ(profiles.get("/users/7").response.status, 404);
}

// An order service with two orders, and a feature service that reads it.
class features_service : public testing::Test {
 protected:
  features_service() : orders{orders::define()}, features{features::define(), {"--orders", orders.url()}} {
    orders.send("POST", "/orders", order_body(1, 7, 100, "1997-01-01"), {saga(1), "order"});
    orders.send("POST", "/orders", order_body(2, 7, 300, "1997-01-20"), {saga(2), "order"});
  }

  atone::http::exchange recompute(std::uint8_t number, std::string const& day) {
    return features.send("POST", "/recompute", R"({"user":7,"as_of":")" + day + R"(T00:00:00Z"})", {saga(number), "features"});
  }
  atone::http::exchange republish(std::uint8_t number) {
    return features.send("POST", "/republish", R"({"user":7,"before":")" + saga(number) + "\"}", {saga(number), "features", "compensate"});
  }
  static std::int64_t count(atone::json::value const& served, std::string_view window) {
    return *served.find("features")->find("windows")->find(window)->find("count")->as_int64();
  }

  service_under_test orders;
  service_under_test features;
};

TEST_F(features_service, windows_are_computed_from_the_orders) {
  auto const made = recompute(2, "1997-01-20");
  ASSERT_EQ(made.response.status, 200) << made.response.body;
  auto const answer = *atone::json::parse(made.response.body);
  EXPECT_EQ(answer.find("version")->as_int64(), 1);
  EXPECT_EQ(count(answer, "7d"), 1);
  EXPECT_EQ(count(answer, "30d"), 2);
  EXPECT_EQ(answer.find("features")->find("windows")->find("30d")->find("sum")->as_int64(), 400);
  EXPECT_EQ(features.json("/features/7").raw(), made.response.body);
}

TEST_F(features_service, a_republished_version_is_a_new_one_with_the_older_content) {
  recompute(1, "1997-01-01");
  recompute(2, "1997-01-20");
  auto const undone = republish(2);
  ASSERT_EQ(undone.response.status, 200) << undone.response.body;
  auto const served = features.json("/features/7");
  EXPECT_EQ(served.find("version")->as_int64(), 3);
  EXPECT_EQ(served.find("mark")->as_string(), "to_be_updated");
  EXPECT_EQ(count(served, "30d"), 1) << "as before the second saga";
  EXPECT_EQ(features.json("/totals").find("withdrawn")->as_int64(), 1);
}

TEST_F(features_service, a_withdrawn_version_never_comes_back) {
  recompute(1, "1997-01-01");
  recompute(2, "1997-01-20");
  republish(1);
  republish(2);
  auto const served = features.json("/features/7");
  EXPECT_EQ(count(served, "90d"), 0) << "both were withdrawn: nobody's features are left";
  EXPECT_EQ(served.find("version")->as_int64(), 4);
}

TEST_F(features_service, a_second_delivery_makes_no_second_version) {
  auto const first = recompute(2, "1997-01-20");
  auto const second = recompute(2, "1997-01-20");
  EXPECT_EQ(first.response.body, second.response.body);
  EXPECT_EQ(features.json("/totals").find("versions")->as_int64(), 1);
}

TEST_F(features_service, without_the_order_service_it_is_unavailable_and_nothing_happens) {
  orders.running().stop();
  auto const came = recompute(2, "1997-01-20");
  EXPECT_EQ(came.response.status, 503);
  EXPECT_THAT(came.response.body, HasSubstr("order service"));
  EXPECT_EQ(features.applied({saga(2), "features"}), -1) << "no row at all: it can be tried again";
  EXPECT_EQ(republish(2).response.status, 200) << "nothing to undo";
}

TEST_F(features_service, nobody_has_no_features) {
  EXPECT_EQ(features.get("/features/99").response.status, 404);
  EXPECT_EQ(recompute(2, "someday").response.status, 400);
}

features::engine_ptr built_in() {
  return *features::make_engine(features::built_in_set, "user-orders.yaml");
}

TEST(features_orders, an_answer_that_can_not_be_used_is_unavailable) {
  for (auto const* text : {"", "[]", "{}", R"({"orders":1})", R"({"orders":[1]})",
                           R"({"orders":[{"order_id":1,"amount":1.5,"placed_at":"1997-01-01T00:00:00Z"}]})",
                           R"({"orders":[{"order_id":1,"amount":1,"placed_at":"never"}]})",
                           R"({"orders":[{"order_id":9223372036854775808,"amount":1,"placed_at":"1997-01-01T00:00:00Z"}]})"}) {
    auto const read = features::read_orders(built_in()->set(), 7, text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().code, atone::errc::unavailable);
  }
  auto const read =
      features::read_orders(built_in()->set(), 7, R"({"orders":[{"order_id":1,"amount":5,"placed_at":"1997-01-01T00:00:00Z"}]})");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->columns.at(3).values, std::vector<std::int64_t>{5});
}

TEST(features_orders, an_order_without_its_amount_is_refused_by_the_set) {
  auto const engine = built_in();
  auto const read = features::read_orders(engine->set(), 7, R"({"orders":[{"order_id":1,"placed_at":"1997-01-01T00:00:00Z"}]})");
  ASSERT_TRUE(read.has_value());
  auto const store = atone::features::sort_events(engine->set(), *read);
  ASSERT_FALSE(store.has_value());
  EXPECT_THAT(store.error().message, HasSubstr("'amount'"));
}

TEST(features_orders, a_set_with_mistakes_is_refused_at_start_with_all_of_them) {
  auto const made = features::make_engine("feature_set: Orders\nversion: 0\n", "mine.yaml");
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("mine.yaml:1:14"));
  EXPECT_THAT(made.error().message, HasSubstr("mine.yaml:2:10"));
}

TEST(features_orders, the_built_in_set_gives_the_bytes_that_are_served) {
  EXPECT_EQ(features::compute_empty(*built_in(), atone::timestamp{}),
            R"({"as_of":"1970-01-01T00:00:00.000000Z","windows":{"7d":{"count":0,"sum":0,"mean":null,"recency_us":null},)"
            R"("30d":{"count":0,"sum":0,"mean":null,"recency_us":null},"90d":{"count":0,"sum":0,"mean":null,"recency_us":null}}})");
}

}  // namespace
}  // namespace examples_test
