// What a definition holds after loading, verb by verb.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

using testing::HasSubstr;

TEST(definitions, keep_name_version_text_and_deadline) {
  auto const text = saga_of_step("    call: shop pay\n") + "output: {id: =input.id}\nshard_key: =input.id\n";
  auto const done = load_definition(text);
  ASSERT_TRUE(done.ok()) << told(done);
  EXPECT_EQ(done.definition->ref.name, "tested");
  EXPECT_EQ(done.definition->ref.version, definition_version{1});
  EXPECT_EQ(done.definition->text, text);
  EXPECT_EQ(done.definition->deadline, std::chrono::minutes{1});
  EXPECT_TRUE(done.definition->input);
  ASSERT_TRUE(done.definition->shard_key);
  EXPECT_EQ(done.definition->shard_key->text(), "input.id");
  ASSERT_TRUE(done.definition->output);
}

TEST(definitions, the_input_schema_checks_inputs) {
  auto const done = load_definition(saga_of_step("    call: shop pay\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  EXPECT_TRUE(done.definition->input->validate(json::parse(R"({"id": 1})").value()).empty());
  EXPECT_FALSE(done.definition->input->validate(json::parse(R"({"id": "1"})").value()).empty());
}

TEST(definitions, schemas_of_answers_are_kept) {
  auto const done = load_definition(saga_of_step("    call: shop pay\n    out: {type: object, required: [x]}\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  EXPECT_FALSE(first_action(done).out->validate(json::parse("{}").value()).empty());
}

TEST(definitions, mistakes_in_schemas_are_told_where_they_stand) {
  auto const done =
      load_definition(saga_of_step("    call: shop pay\n    out:\n      type: object\n      properties:\n        x: {type: integr}\n"));
  ASSERT_EQ(mistakes_in(done), 1U) << told(done);
  EXPECT_EQ(done.diagnostics[0].line, 18U);
  EXPECT_THAT(done.diagnostics[0].path, testing::StartsWith("steps[0].out.properties.x"));
}

TEST(definitions, parallel_steps_hold_their_branches_in_order) {
  auto const done =
      load_definition(saga_with("  - id: fan\n    when: =input.id > 1\n    parallel: {join: all, on_failure: cancel_rest}\n    branches:\n"
                                "      z: [{id: a, call: shop x, read_only: true}]\n      a: [{id: a, call: shop x, read_only: true}, {id: "
                                "b, call: shop x, read_only: true}]\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  auto const& fan = std::get<parallel_verb>(done.definition->steps.at(0).verb);
  ASSERT_EQ(fan.branches.size(), 2U);
  EXPECT_EQ(fan.branches[0].name, "z");
  EXPECT_EQ(fan.branches[1].steps.size(), 2U);
  EXPECT_TRUE(done.definition->steps[0].when);
}

TEST(definitions, parallel_steps_nest) {
  std::string text = "  - {id: x, call: shop x, read_only: true}\n";
  std::string indent = "  ";
  for (int level = 0; level < 15; ++level) {
    std::string inner;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) inner += "      " + line + "\n";
    text = "  - id: p" + std::to_string(level) + "\n    parallel: {}\n    branches:\n      b:\n" + inner;
  }
  EXPECT_TRUE(load_definition(saga_with(text)).ok()) << told(load_definition(saga_with(text)));
}

TEST(definitions, fail_has_a_reason_of_any_shape) {
  auto const done = load_definition(saga_with("  - {id: stop, when: =input.id > 5, fail: {code: 7, id: =input.id}}\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  auto const& stop = std::get<fail_verb>(done.definition->steps[0].verb);
  EXPECT_EQ(stop.reason.render({{"input", json::parse(R"({"id": 9})").value()}}).value(), R"({"code":7,"id":9})");
  EXPECT_THAT(told(load_definition(saga_with("  - {id: stop, fail: }\n"))), HasSubstr("there is no value"));
}

std::string const pay = "  - id: pay\n    call: shop pay\n    read_only: true\n";

TEST(definitions, fallback_by_value) {
  auto const done =
      load_definition(saga_with(pay + "    fallback: {on: [timeout, unavailable, refused], use: {value: {id: =input.id}}, alert: info}\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  auto const& fallback = *first_action(done).fallback;
  EXPECT_TRUE(fallback.covers(fallback::trigger::timeout) && fallback.covers(fallback::trigger::unavailable) &&
              fallback.covers(fallback::trigger::refused));
  EXPECT_EQ(fallback.alert, alert_level::info);
  auto const& value = std::get<fallback::constant>(fallback.use).value;
  EXPECT_EQ(value.render({{"input", json::parse(R"({"id": 9})").value()}}).value(), R"({"id":9})");
}

TEST(definitions, fallback_by_call) {
  auto const done = load_definition(saga_with(
      pay + "    attempt_timeout: 7s\n    fallback: {on: [timeout], use: {call: \"orders GET /old/{id}\", in: {id: =input.id}}}\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  auto const& call = std::get<fallback::call>(first_action(done).fallback->use);
  EXPECT_EQ(std::get<call_target>(call.what).service, "orders");
  EXPECT_EQ(call.attempt_timeout, std::chrono::seconds{7});
  EXPECT_FALSE(first_action(done).fallback->alert);
  EXPECT_THAT(told(load_definition(saga_with(pay + "    fallback: {on: [timeout], use: {call: \"orders GET /old/{id}\"}}\n"))),
              HasSubstr("the path needs `id`"));
}

TEST(definitions, fallback_by_last_output) {
  auto const done = load_definition(saga_with(pay + "    fallback: {on: [unavailable], use: last_output, key: =saga.key, max_age: 2h}\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  auto const& last = std::get<fallback::last_output>(first_action(done).fallback->use);
  EXPECT_EQ(last.key.text(), "saga.key");
  EXPECT_EQ(last.max_age, std::chrono::hours{2});
  EXPECT_THAT(told(load_definition(saga_with(pay + "    fallback: {on: [timeout], use: last_output, key: =input.id > 5, max_age: 2h}\n"))),
              HasSubstr("expected string or integer"));
}

TEST(definitions, a_constant_fallback_fits_the_schema_of_the_answer) {
  std::string const out = "    out: {type: object, required: [total]}\n";
  EXPECT_EQ(told(load_definition(saga_with(pay + out + "    fallback: {on: [timeout], use: {value: {total: 1}}}\n"))), "");
  EXPECT_THAT(told(load_definition(saga_with(pay + out + "    fallback: {on: [timeout], use: {value: {}}}\n"))),
              HasSubstr("does not fit the step's `out` schema"));
}

TEST(definitions, compensations_by_sql) {
  auto const done =
      load_definition(saga_with("  - id: pay\n    sql: insert into t values (:id)\n    in: {id: =input.id}\n"
                                "    compensate: {sql: \"delete from t where id = :id\", in: {id: =input.id}, limit: 1h}\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  EXPECT_EQ(std::get<sql_target>(first_action(done).compensate->what).text, "delete from t where id = :id");
  EXPECT_EQ(first_action(done).compensate->limit, std::chrono::hours{1});
}

TEST(definitions, a_missing_head_is_told_all_at_once) {
  auto const text = told(load_definition("steps: []\n"));
  EXPECT_THAT(text, HasSubstr("`saga` is missing"));
  EXPECT_THAT(text, HasSubstr("`version` is missing"));
  EXPECT_THAT(text, HasSubstr("steps   an empty list"));
}

TEST(definitions, diagnostics_are_formatted_on_two_lines_at_most) {
  diagnostic one;
  one.line = 31;
  one.column = 7;
  one.path = "steps[2].in";
  one.message = "wrong";
  EXPECT_EQ(format(one, "a.yaml"), "a.yaml:31:7  steps[2].in   wrong");
  one.hint = "mend it";
  one.severity = diagnostic::severity_kind::warning;
  EXPECT_EQ(format(one, "a.yaml"), "a.yaml:31:7  steps[2].in   warning: wrong\n    mend it");
  one.path.clear();
  EXPECT_EQ(format(one, "a.yaml"), "a.yaml:31:7  warning: wrong\n    mend it");
}

}  // namespace
}  // namespace atone::yaml_test
