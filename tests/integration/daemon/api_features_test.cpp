// Features over HTTP: events in, versions out, figures; without sockets.
#include <stdlib.h>

#include <filesystem>

#include "api_harness.hpp"

namespace atone::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t second = 1'000'000;

// A folder, and a service in it whose clock stands.
struct shop {
  shop() {
    auto pattern = (std::filesystem::temp_directory_path() / "atone-api-features-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    auto const read = features::load_feature_set(
        "feature_set: shop\nversion: 3\nentity: user\nevent_id: id\nevent_time: at\nlate: {after: 1d, then: set_aside}\nknown_at: told\n"
        "columns: {user: text, id: integer, at: timestamp, told: timestamp, amount: {type: decimal, scale: 2}}\n"
        "windows: {ever: {since: epoch}}\nfeatures: {n: {count: events, over: [ever]}, spent: {sum: amount, over: [ever]}}\n");
    features::feature_service_options with;
    with.folder = folder;
    with.now = [] { return timestamp{duration{100 * second}}; };
    service = *features::feature_service::open(read.set, with);
  }
  ~shop() {
    service->stop();
    std::filesystem::remove_all(folder);
  }
  service_options options() const {
    service_options made;
    made.features.emplace("shop", service);
    return made;
  }

  std::string folder;
  std::shared_ptr<features::feature_service> service;
};

class api_features : public shop, public api_test {
 protected:
  api_features() : api_test(shop::options()) { bind_features(*sagas, shop::options().features); }

  http::response append(std::string const& rows) { return ask("POST", "/v1/features/shop/events", R"({"rows": )" + rows + "}"); }
  void recompute(std::string const& entity, std::int64_t as_of) {
    features::recompute_request what;
    what.key = entity + std::to_string(as_of);
    what.entity = entity;
    what.as_of = timestamp{duration{as_of * second}};
    ASSERT_TRUE(service->recompute(what));
  }
};

TEST_F(api_features, events_come_in_exactly_and_once) {
  auto const rows =
      R"([{"user":"ann","id":1,"at":"1970-01-01T00:00:01Z","amount":0.10},{"user":"ann","id":2,"at":2000000,"amount":"0.20"},{"id":3,"at":1}])";
  auto const made = append(rows);
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(made.body, R"({"taken":2,"duplicates":0,"without_entity":1,"without_id":0,"without_time":0,"late":0})");
  EXPECT_THAT(append(rows).body, HasSubstr(R"("taken":0,"duplicates":2)"));
  EXPECT_THAT(append(R"([{"user":"ann","id":4,"at":1,"told":"1970-01-03T00:00:00Z"}])").body, HasSubstr(R"("late":1)"));
  recompute("ann", 9);
  EXPECT_THAT(get("/v1/features/shop/entities/ann").body, HasSubstr(R"("ever":{"n":2,"spent":0.30})"));
}

TEST_F(api_features, mistakes_in_events_name_row_and_column_and_nothing_comes_in) {
  auto const said = [&](std::string const& rows) {
    auto const made = append(rows);
    EXPECT_EQ(made.status, 422) << made.body;
    return text(problem_in(made), "message");
  };
  EXPECT_THAT(said(R"([{"user":"ann","id":1,"at":1},{"user":"ann","id":1.5,"at":1}])"), HasSubstr("rows[1]: column 'id': found '1.5'"));
  EXPECT_THAT(said(R"([{"user":7,"id":1,"at":1}])"), HasSubstr("column 'user': found 7; expected a text"));
  EXPECT_THAT(said(R"([{"user":"ann","id":true,"at":1}])"), HasSubstr("column 'id': found boolean"));
  EXPECT_THAT(said(R"([{"usr":"ann"}])"), HasSubstr("found 'usr'; the set has no such column"));
  EXPECT_THAT(said(R"([7])"), HasSubstr("rows[0]: found number; expected a map"));
  EXPECT_THAT(said(R"({})"), HasSubstr("rows: found object; expected a list"));
  EXPECT_THAT(said(R"([{"user":"ann","id":1,"at":1,"amount":0.001}])"), HasSubstr("column 'amount'"));
  EXPECT_EQ(ask("POST", "/v1/features/shop/events", "{}").status, 400);
  EXPECT_EQ(ask("POST", "/v1/features/shop/events", "[").status, 400);
  EXPECT_EQ(ask("POST", "/v1/features/shop/events", "{}", {{"Content-Type", "text/plain"}}).status, 415);
  EXPECT_EQ(service->figures().events, 0U);
}

TEST_F(api_features, a_version_has_its_number_age_hash_and_a_tag_that_spares_reading_it_again) {
  append(R"([{"user":"ann lee","id":1,"at":1,"amount":1}])");
  EXPECT_EQ(get("/v1/features/shop/entities/ann%20lee").status, 404);
  recompute("ann lee", 9);
  auto const made = get("/v1/features/shop/entities/ann%20lee");
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_THAT(made.body, AllOf(HasSubstr(R"("entity":"ann lee","version":1,"input":9000000,"as_of":"1970-01-01T00:00:09.000000Z")"),
                               HasSubstr(R"("age_seconds":0,"tag":"current","stale":false)")));
  EXPECT_EQ(text(read(made), "hash"), content_hash::of(read(made).find("features")->raw()).text());
  EXPECT_EQ(made.headers.get("ETag"), "\"1\"");
  auto const again = ask("GET", "/v1/features/shop/entities/ann%20lee", "", {{"If-None-Match", "\"1\""}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  append(R"([{"user":"ann lee","id":2,"at":2,"amount":1}])");
  auto const stale = ask("GET", "/v1/features/shop/entities/ann%20lee", "", {{"If-None-Match", "\"1\""}});
  EXPECT_EQ(stale.status, 200);
  EXPECT_THAT(stale.body, HasSubstr(R"("stale":true)"));
  EXPECT_EQ(stale.headers.get("ETag"), "\"1-stale\"");
}

TEST_F(api_features, sets_and_their_figures_are_listed_counted_and_measured) {
  append(R"([{"user":"ann","id":1,"at":90000000,"amount":1}])");
  recompute("ann", 95);
  recompute("ann", 94);
  auto const sets = get("/v1/features").body;
  EXPECT_THAT(sets, AllOf(HasSubstr(R"("set":"shop","version":3,)"),
                          HasSubstr(R"("freshness_seconds":10,"entities":1,"events":1,"stale":0,"recomputes":2)"),
                          HasSubstr(R"("superseded":1)"), HasSubstr(R"("writable":true)")));
  EXPECT_THAT(get("/v1/stats").body, HasSubstr(R"("features":[{"set":"shop")"));
  auto const metrics = get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("atone_features_freshness_seconds{set=\"shop\"} 10"));
  EXPECT_THAT(metrics, HasSubstr("atone_features_published_total{set=\"shop\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("atone_features_superseded_total{set=\"shop\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("atone_features_rows_total{set=\"shop\",engine=\"cpu\"} 1"));
}

TEST_F(api_features, a_saga_recomputes_and_the_door_serves_it) {
  append(R"([{"user":"ann","id":1,"at":1,"amount":2.50}])");
  auto const published = sagas->publish(
      "saga: order\nversion: 1\ninput: {}\nservices: {features: {local: feature_recompute}}\nsteps:\n  - id: features\n    call: features "
      "recompute\n"
      "    in: {set: shop, entity: ann, as_of: '1970-01-01T00:00:05Z'}\n    compensate: {call: features republish, in: {set: shop, entity: "
      "ann}}\n");
  ASSERT_TRUE(published) << published.error().message;
  auto const made = ask("POST", "/v1/sagas/order?wait=20s", "{}");
  EXPECT_THAT(made.body, HasSubstr(R"("status":"completed")"));
  EXPECT_THAT(get("/v1/features/shop/entities/ann").body, HasSubstr(R"("spent":2.50)"));
}

TEST_F(api_features, a_set_that_is_not_here_is_404) {
  EXPECT_EQ(get("/v1/features/other/entities/ann").status, 404);
  EXPECT_EQ(ask("POST", "/v1/features/other/events", R"({"rows": []})").status, 404);
  EXPECT_EQ(ask("DELETE", "/v1/features/shop/events").status, 405);
}

using api_without_features = api_test;

TEST_F(api_without_features, the_doors_say_how_to_have_them) {
  EXPECT_THAT(get("/v1/features/shop/entities/ann").body, HasSubstr("atoned --features"));
  EXPECT_EQ(get("/v1/features").body, R"({"sets":[]})");
  EXPECT_THAT(get("/v1/stats").body, Not(HasSubstr("features")));
  EXPECT_THAT(get("/metrics").body, Not(HasSubstr("atone_features")));
}

}  // namespace
}  // namespace atone::api
