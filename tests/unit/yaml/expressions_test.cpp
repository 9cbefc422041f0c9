// Expressions in place: compiled with the types of the scope, mistakes told where they stand.
#include "yaml/expressions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

using testing::HasSubstr;

std::string said_of_in(std::string const& in) {
  return told(load_definition(saga_of_step("    call: shop pay\n    in: " + in + "\n")));
}

TEST(expressions, see_input_saga_and_constants) {
  for (auto const* in : {"=input.id", "=saga.id", "=saga.key + saga.name", "=saga.version + 1", "=saga.started_at", "=1 + 2", "='a' + 'b'",
                         "\"=has(input.note) ? input.note : ''\""}) {
    EXPECT_EQ(said_of_in(in), "") << in;
  }
}

TEST(expressions, mistakes_point_into_the_text) {
  auto const plain = load_definition(saga_of_step("    call: shop pay\n    in: {a: =input.id + saga.key}\n"));
  ASSERT_EQ(mistakes_in(plain), 1U) << told(plain);
  EXPECT_EQ(plain.diagnostics[0].line, 15U);
  EXPECT_GE(plain.diagnostics[0].column, 14U);
  EXPECT_EQ(plain.diagnostics[0].path, "steps[0].in.a");
  auto const quoted = load_definition(saga_of_step("    call: shop pay\n    in: {a: '=nobody'}\n"));
  ASSERT_EQ(mistakes_in(quoted), 1U) << told(quoted);
  EXPECT_EQ(quoted.diagnostics[0].column, 15U);
  auto const block = load_definition(saga_of_step("    call: shop pay\n    in:\n      a: >-\n        =nobody\n"));
  ASSERT_EQ(mistakes_in(block), 1U) << told(block);
  EXPECT_EQ(block.diagnostics[0].column, 10U);
}

TEST(expressions, unknown_names_of_saga_and_input_are_refused) {
  EXPECT_NE(said_of_in("=saga.kay"), "");
  EXPECT_NE(said_of_in("=inputs.id"), "");
  EXPECT_THAT(said_of_in("=input.di"), HasSubstr("did you mean `id`?"));
  EXPECT_NE(said_of_in("=out.id"), "");
}

TEST(expressions, fields_that_are_not_required_need_has) {
  EXPECT_THAT(said_of_in("=input.note"), HasSubstr("`input.note` may be missing: the schema of `input` does not require it"));
  EXPECT_EQ(said_of_in("=has(input.note)"), "");
  EXPECT_EQ(said_of_in("=has(input.note) && input.note == 'x'"), "");
  EXPECT_EQ(said_of_in("=!has(input.note) || input.note == 'x'"), "");
  EXPECT_NE(said_of_in("\"=has(input.note) ? '' : input.note\""), "");
}

std::string with_input(std::string const& schema, std::string const& in) {
  return told(load_definition("saga: s\nversion: 1\ndeadline: 1m\n" + schema +
                              "services: {shop: {local: shop}}\nsteps:\n  - {id: a, read_only: true, call: shop x, in: " + in + "}\n"));
}

TEST(expressions, without_a_schema_nothing_is_assumed) {
  EXPECT_EQ(with_input("", "=input.anything.at.all"), "");
  EXPECT_EQ(with_input("input: {type: object}\n", "=input.anything"), "");
}

TEST(expressions, nested_schemas_are_followed) {
  std::string const schema =
      "input:\n  type: object\n  required: [who]\n  properties:\n    who:\n      type: object\n      required: [name]\n"
      "      properties: {name: {type: string}, age: {type: integer}}\n    tags: {type: array, items: {type: string}}\n";
  EXPECT_EQ(with_input(schema, "=input.who.name"), "");
  EXPECT_THAT(with_input(schema, "=input.who.age"), HasSubstr("`input.who.age` may be missing"));
  EXPECT_THAT(with_input(schema, "=input.who.nam"), HasSubstr("did you mean `name`?"));
  EXPECT_THAT(with_input(schema, "'=size(input.tags)'"), HasSubstr("`input.tags` may be missing"));
  EXPECT_EQ(with_input(schema, "'=has(input.tags) && size(input.tags) > 0'"), "");
}

TEST(expressions, has_asks_for_the_last_link_only) {
  std::string const schema = "input: {type: object, properties: {who: {type: object, properties: {name: {type: string}}}}}\n";
  EXPECT_THAT(with_input(schema, "=has(input.who.name)"), HasSubstr("`input.who` may be missing"));
  EXPECT_EQ(with_input(schema, "=has(input.who) && has(input.who.name) && input.who.name == 'x'"), "");
}

TEST(expressions, when_is_a_truth_value) {
  auto const with = [](std::string const& when) {
    return told(load_definition(saga_of_step("    call: shop pay\n    when: " + when + "\n")));
  };
  EXPECT_EQ(with("=input.id > 5"), "");
  EXPECT_THAT(with("=input.id"), HasSubstr("the expression gives integer; expected boolean"));
  EXPECT_THAT(with("true"), HasSubstr("expected an expression"));
  EXPECT_THAT(with("[=input.id]"), HasSubstr("found a list; expected an expression"));
}

TEST(expressions, shard_key_sees_the_input_only) {
  auto const with = [](std::string const& key) {
    return told(load_definition(saga_of_step("    call: shop pay\n") + "shard_key: " + key + "\n"));
  };
  EXPECT_EQ(with("=input.id"), "");
  EXPECT_NE(with("=saga.id"), "");
  EXPECT_NE(with("=steps.one.out"), "");
  EXPECT_THAT(with("=input.id > 5"), HasSubstr("expected string or integer"));
}

TEST(expressions, lock_sees_the_input_only_and_leaves_no_room_for_a_shard_key) {
  auto const with = [](std::string const& more) { return told(load_definition(saga_of_step("    call: shop pay\n") + more)); };
  EXPECT_EQ(with("lock: =input.id\n"), "");
  EXPECT_NE(with("lock: =saga.id\n"), "");
  EXPECT_THAT(with("lock: =input.id > 5\n"), HasSubstr("expected string or integer"));
  EXPECT_THAT(with("lock: =input.id\nshard_key: =input.id\n"), HasSubstr("shard_key   `lock` says where a saga lives"));
}

TEST(expressions, cut_ones_say_quote_the_expression) {
  for (auto const* in : {"{max: =max(input.id, 5)}", "[=max(input.id, 5)]", "{a: =input.list[0]}"}) {
    EXPECT_THAT(said_of_in(in), HasSubstr("quote the expression")) << in;
  }
  EXPECT_THAT(said_of_in("\n      a: =saga.key + ' # x'"), HasSubstr("YAML takes what follows ` #` as a comment"));
  EXPECT_THAT(said_of_in("\n      a: =has(input.note) ? 1 : 2"), HasSubstr("quote the expression"));
}

TEST(expressions, quoted_ones_may_hold_anything) {
  EXPECT_EQ(said_of_in("{a: \"=[1, 2][0]\", b: \"=saga.key + ' # x: y'\", c: '={\"k\": 1}.k'}"), "");
}

TEST(expressions, a_comment_behind_a_whole_expression_is_a_comment) {
  EXPECT_EQ(said_of_in("=input.id # the order"), "");
}

TEST(expressions, one_cut_makes_one_mistake) {
  EXPECT_EQ(mistakes_in(load_definition(saga_of_step("    call: shop pay\n    in: {a: =max(input.id, 5), b: 1}\n"))), 1U);
}

TEST(expressions, places_in_texts_count_characters) {
  yaml::node scalar;
  scalar.kind = yaml::node_kind::scalar;
  scalar.text = "=é + x";
  scalar.verbatim = true;
  scalar.text_column = 10;
  scalar.at = yaml::place{3, 9};
  EXPECT_EQ(yaml::place_in(scalar, 5).column, 15U);
  scalar.verbatim = false;
  EXPECT_EQ(yaml::place_in(scalar, 5).column, 9U);
}

}  // namespace
}  // namespace atone::yaml_test
