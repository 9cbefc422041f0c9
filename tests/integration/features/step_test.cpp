// Sagas whose step recomputes features, in one process: what is published, undone, repeated, and what happens while features are away.
#include <atone/feature_step.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "../../unit/features_service/support.hpp"
#include "pace.hpp"

namespace atone::features_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr duration patience = std::chrono::seconds{20};

std::string const definition = R"(saga: order
version: 1
input: {type: object, required: [user, at], properties: {user: {type: integer}, at: {type: integer}, refuse: {type: boolean}, input: {type: integer}}}
services: {features: {local: feature_recompute}, shop: {local: shop}}
defaults:
  attempt_timeout: 5s
  retry: {attempts: 2, delay: 1ms, jitter: none}
  compensate: {attempts: 5, delay: 1ms, jitter: none}
steps:
  - id: features
    call: features recompute
    in: {entity: =input.user, as_of: =input.at}
    out: {type: object, required: [version]}
    timeout: 10s
    fallback: {on: [timeout, unavailable], use: last_output, key: =input.user, max_age: 24h, alert: page}
    compensate: {call: features republish, in: {entity: =input.user}}
  - id: ship
    call: shop ship
    in: {refuse: "=has(input.refuse) && input.refuse"}
    compensate: {call: shop unship, in: {}}
output: =steps.features.out
)";

class features_step : public service_test {
 protected:
  features_step() { open(); }
  ~features_step() override {
    if (sagas) sagas->stop();
  }

  void drive(std::string const& text = definition) {
    auto opened = coordinator::open(atone::options{"memory:"});
    ASSERT_TRUE(opened) << opened.error().message;
    sagas = *std::move(opened);
    bind();
    sagas->handle("shop", "ship", [](call const& of) { return of.input() == R"({"refuse":true})" ? refused("no van") : done(); });
    sagas->handle("shop", "unship", [](call const&) { return done(); });
    auto const published = sagas->publish(text);
    ASSERT_TRUE(published) << published.error().message;
    ASSERT_TRUE(sagas->run());
  }
  // The step is bound to the service that is open now.
  void bind() {
    bind_features(*sagas, {{"shop", std::shared_ptr<feature_service>{service.get(), [](auto*) {}}}});
  }
  saga_view run(std::string const& input, std::string const& key = "") {
    auto const made = sagas->run("order", business_key{key}, input, patience);
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : saga_view{};
  }
  static std::string order(std::int64_t user, std::int64_t time, std::string const& more = "") {
    return R"({"user": )" + std::to_string(user) + R"(, "at": )" + std::to_string(time * second) + more + "}";
  }

  std::unique_ptr<coordinator> sagas;
};

TEST_F(features_step, recomputes_as_a_step_and_its_output_is_the_version) {
  must_append({{7, std::string{"a"}, 1 * second, 150, std::string{"tea"}}});
  drive();
  auto const made = run(order(7, 2));
  EXPECT_TRUE(made.completed()) << made.row.cause;
  EXPECT_THAT(made.row.output, AllOf(HasSubstr(R"("entity":"7","outcome":"published","version":1)"), HasSubstr(R"("spent":1.50)")));
  EXPECT_TRUE(run(order(7, 5)).completed());
  auto const late = run(order(7, 3));
  EXPECT_TRUE(late.completed()) << "superseded is a success";
  EXPECT_THAT(late.row.output, HasSubstr(R"("outcome":"superseded","version":2)"));
  EXPECT_EQ(served().version.number, 2U);
}

TEST_F(features_step, a_later_refusal_publishes_the_version_before_under_a_new_number) {
  drive();
  run(order(7, 2));
  auto const before = served().version.json;
  auto const undone = run(order(7, 5, R"(, "refuse": true)"));
  EXPECT_EQ(undone.row.status, saga_status::compensated);
  EXPECT_EQ(served().version.number, 3U);
  EXPECT_EQ(served().version.json, before);
  EXPECT_EQ(served().version.tag, version_tag::to_be_updated);
}

TEST_F(features_step, while_features_are_away_sagas_complete_with_the_last_version_and_an_alert_and_catch_up_afterwards) {
  must_append({{7, std::string{"a"}, 1 * second, 150, std::string{"tea"}}});
  drive();
  auto const last = run(order(7, 2)).row.output;
  must_append({{7, std::string{"b"}, 3 * second, 50, std::string{"tea"}}});
  gate.fail();
  auto const away = run(order(7, 4));
  EXPECT_TRUE(away.completed()) << away.row.cause;
  EXPECT_EQ(away.row.output, last) << "byte for byte";
  ASSERT_FALSE(away.steps.empty());
  EXPECT_TRUE(away.steps[0].fell_back);
  std::vector<alert_row> alerted;
  ASSERT_TRUE(sagas->read([&](journal_reader& from) -> result<void> {
    auto const found = from.alerts(10);
    if (found) alerted = *found;
    return {};
  }));
  ASSERT_FALSE(alerted.empty());
  EXPECT_EQ(alerted[0].level, alert_level::page);
  EXPECT_TRUE(served().stale);

  auto with = options();
  with.sync = {};
  open(with);
  bind();
  must_append({{7, std::string{"c"}, 5 * second, 25, std::string{"tea"}}});
  EXPECT_EQ(service->catch_up(), 1U);
  auto const back = run(order(7, 6));
  EXPECT_THAT(back.row.output, AllOf(HasSubstr(R"("outcome":"published")"), HasSubstr(R"("spent":2.25)")));
  EXPECT_FALSE(served().stale);
}

TEST_F(features_step, mistakes_in_its_input_refuse_the_step_and_name_the_key) {
  struct mistake {
    std::string in;
    std::string said;
  };
  int version = 1;
  for (auto const& one :
       {mistake{"{entity: 7}", "as_of: found nothing"}, mistake{"{as_of: 5}", "entity: found nothing"},
        mistake{"{entity: seven, as_of: 5}", "expected an integer"}, mistake{"{entity: 7, as_of: yesterday}", "expected a time as"},
        mistake{"{entity: 7, as_of: 5, asof: 5}", "found 'asof'"},
        mistake{"{entity: 7, as_of: 5, set: users}", "set: found 'users', expected one of: shop"},
        mistake{"{entity: 7, as_of: 5, input: 1.5}", "expected an integer that fits"}}) {
    drive(
        "saga: order\nversion: " + std::to_string(version++) +
        "\ninput: {}\nservices: {features: {local: feature_recompute}}\nsteps:\n  - id: features\n    call: features recompute\n    in: " +
        one.in + "\n    compensate: {call: features republish, in: {entity: 7}}\n");
    auto const made = run("{}");
    EXPECT_EQ(made.row.status, saga_status::compensated);
    EXPECT_THAT(made.row.cause, HasSubstr(one.said));
    sagas->stop();
  }
}

TEST_F(features_step, many_sagas_at_once_share_batches_and_commits) {
  drive();
  raw_rows rows;
  for (std::int64_t n = 0; n < 200; ++n) rows.push_back({n % 20, "id" + std::to_string(n), n * second, 100, std::string{"tea"}});
  must_append(rows);
  auto const commits = service->figures().commits;
  gate.close();
  std::vector<saga_id> begun;
  for (std::int64_t n = 0; n < 200; ++n) {
    start_request what;
    what.saga = "order";
    what.input = order(n % 20, n);
    auto const made = sagas->start(what);
    ASSERT_TRUE(made);
    begun.push_back(made->id);
  }
  EXPECT_TRUE(test::comes_true([&] { return service->figures().recomputes == 200; }, std::chrono::seconds{20}))
      << "no handler thread is held by one that waits for the disk";
  gate.open();
  for (auto const id : begun) EXPECT_TRUE(sagas->wait(id, patience)->completed());
  auto const figures = service->figures();
  EXPECT_EQ(figures.recomputes, 200U);
  EXPECT_EQ(figures.published + figures.superseded, 200U);
  EXPECT_LE(figures.commits - commits, 2U) << "the first, and all that gathered meanwhile";
  for (std::int64_t user = 0; user < 20; ++user) EXPECT_EQ(served(std::to_string(user)).version.as_of, at((180 + user) * second));
}

}  // namespace
}  // namespace atone::features_test
