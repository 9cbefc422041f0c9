// The sagas in examples/ load without a word, and are what their text says.
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

loaded load_example(std::string const& name) {
  return load_definition(read_file(source_dir() / "examples/sagas" / name));
}

TEST(examples, all_load_without_a_warning) {
  auto const files = files_of(source_dir() / "examples/sagas", ".yaml");
  ASSERT_GE(files.size(), 3U);
  for (auto const& file : files) {
    auto const done = load_definition(read_file(file));
    EXPECT_TRUE(done.ok()) << file;
    EXPECT_EQ(told(done), "") << file;
  }
}

TEST(examples, minimal_is_one_local_step) {
  auto const done = load_example("minimal.yaml");
  ASSERT_TRUE(done.ok()) << told(done);
  auto const& saga = *done.definition;
  EXPECT_EQ(saga.ref.name, "minimal");
  EXPECT_EQ(saga.ref.version, definition_version{1});
  EXPECT_EQ(saga.deadline, std::chrono::minutes{1});
  ASSERT_EQ(saga.steps.size(), 1U);
  EXPECT_EQ(saga.steps[0].id, "greet");
  EXPECT_EQ(saga.steps[0].line, 9U);
  EXPECT_EQ(saga.steps[0].promise, atomicity::compensable);
  auto const& call = std::get<call_target>(first_action(done).what);
  EXPECT_EQ(call.service, "greeter");
  EXPECT_EQ(std::get<local_target>(call.how).handler, "greet");
  EXPECT_EQ(first_action(done).in.render({}).value(), R"({"name":"world"})");
  EXPECT_EQ(saga.find_service("greeter")->kind, service::kind_of::local);
}

TEST(examples, checkout_has_its_pivot_third_and_goes_forward_after_it) {
  auto const done = load_example("checkout-local.yaml");
  ASSERT_TRUE(done.ok()) << told(done);
  std::vector<atomicity> promises;
  for (auto const& one : done.definition->steps) promises.push_back(one.promise);
  EXPECT_EQ(promises, (std::vector{atomicity::read_only, atomicity::compensable, atomicity::pivot, atomicity::retriable}));
  auto const& charge = action_of(done.definition->steps[1]);
  ASSERT_TRUE(charge.compensate);
  EXPECT_EQ(charge.compensate->limit, std::chrono::hours{1});
  EXPECT_EQ(charge.retry.attempts, 4U);
  EXPECT_EQ(charge.retry.jitter, retry_policy::jitter_kind::equal);
}

TEST(examples, order_placed_forks_once_and_degrades_once) {
  auto const done = load_example("order-placed.yaml");
  ASSERT_TRUE(done.ok()) << told(done);
  auto const& saga = *done.definition;
  ASSERT_EQ(saga.steps.size(), 3U);
  EXPECT_EQ(saga.services.size(), 3U);
  auto const& fan = std::get<parallel_verb>(saga.steps[1].verb);
  ASSERT_EQ(fan.branches.size(), 2U);
  EXPECT_EQ(fan.branches[0].name, "profile");
  ASSERT_EQ(fan.branches[0].steps.size(), 2U);
  EXPECT_EQ(fan.branches[0].steps[1].id, "profile");
  EXPECT_TRUE(fan.branches[1].steps[0].when);
  EXPECT_EQ(saga.steps[1].promise, atomicity::compensable);
  auto const& features = action_of(saga.steps[2]);
  ASSERT_TRUE(features.fallback);
  EXPECT_TRUE(features.fallback->covers(fallback::trigger::timeout));
  EXPECT_FALSE(features.fallback->covers(fallback::trigger::refused));
  EXPECT_EQ(std::get<fallback::last_output>(features.fallback->use).max_age, std::chrono::hours{24});
  EXPECT_EQ(features.fallback->alert, alert_level::page);
}

TEST(examples, order_placed_renders_its_requests) {
  auto const done = load_example("order-placed.yaml");
  ASSERT_TRUE(done.ok()) << told(done);
  expr::bindings values;
  values["input"] =
      json::parse(R"({"order_id":9007199254740993,"user_id":7,"amount":990,"quantity":1,"placed_at":"1997-01-01T00:00:00Z"})").value();
  values["saga"] = json::parse(R"({"id":"s"})").value();
  values["steps"] = json::parse(R"({"features":{"out":{"version":3}}})").value();
  EXPECT_EQ(first_action(done).in.render(values).value(),
            R"({"order_id":9007199254740993,"user":7,"amount":990,"quantity":1,"placed_at":"1997-01-01T00:00:00Z"})");
  auto const& fan = std::get<parallel_verb>(done.definition->steps[1].verb);
  auto const& spending = action_of(fan.branches[0].steps[1]);
  EXPECT_EQ(spending.compensate->in.render(values).value(), R"({"user":7,"add":-990})");
  EXPECT_FALSE(fan.branches[1].steps[0].when->evaluate_bool(values).value());
  EXPECT_EQ(done.definition->output->render(values).value(), R"({"order":9007199254740993,"features":3})");
}

}  // namespace
}  // namespace atone::yaml_test
