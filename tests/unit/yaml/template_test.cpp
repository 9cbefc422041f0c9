// Values with expressions in them: what they render to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

std::string rendered(std::string const& in) {
  auto const done = load_definition(saga_of_step("    call: shop pay\n    in: " + in + "\n"));
  if (!done.ok()) return told(done);
  expr::bindings values;
  values["input"] = json::parse(R"({"id": 9007199254740993, "note": "x"})").value();
  values["saga"] = json::parse(R"({"id": "s"})").value();
  values["steps"] = json::parse("{}").value();
  auto const text = first_action(done).in.render(values);
  return text ? *text : text.error().message;
}

TEST(templates, scalars_keep_their_text) {
  EXPECT_EQ(rendered("{a: 1, b: -0, c: 1E400, d: 0.10, e: 9007199254740993, f: true, g: null, h: text}"),
            R"({"a":1,"b":-0,"c":1E400,"d":0.10,"e":9007199254740993,"f":true,"g":null,"h":"text"})");
}

TEST(templates, quotes_make_texts) {
  EXPECT_EQ(rendered("{a: '1', b: \"yes\", c: 'null', d: ''}"), R"({"a":"1","b":"yes","c":"null","d":""})");
}

TEST(templates, expressions_are_replaced_wherever_they_stand) {
  EXPECT_EQ(rendered("{a: =input.id, b: [=input.id, 1], c: {d: '=saga.id'}}"),
            R"({"a":9007199254740993,"b":[9007199254740993,1],"c":{"d":"s"}})");
  EXPECT_EQ(rendered("=input.id"), "9007199254740993");
  EXPECT_EQ(rendered("=input"), R"({"id": 9007199254740993, "note": "x"})");
}

TEST(templates, two_equals_signs_write_one) {
  EXPECT_EQ(rendered("{a: ==b, '==k': 1, c: '==', d: a=b}"), R"({"a":"=b","=k":1,"c":"=","d":"a=b"})");
}

TEST(templates, block_texts_keep_their_lines) {
  EXPECT_EQ(rendered("\n      a: |\n        one\n        two\n      b: >-\n        one\n        two"),
            R"({"a":"one\ntwo\n","b":"one two"})");
  EXPECT_EQ(rendered("\n      a: >-\n        =input.id +\n        1"), R"({"a":9007199254740994})");
}

TEST(templates, empty_collections_stay_empty) {
  EXPECT_EQ(rendered("{a: [], b: {}}"), R"({"a":[],"b":{}})");
}

TEST(templates, foreign_letters_pass) {
  EXPECT_EQ(rendered("{é: ü, '𝄞': \"\\u20AC\"}"), "{\"é\":\"ü\",\"𝄞\":\"€\"}");
}

TEST(templates, a_value_that_fails_says_which) {
  auto const done = load_definition(saga_of_step("    call: shop pay\n    in: {a: {b: =input.id / 0}}\n"));
  if (!done.ok()) GTEST_SKIP() << "already refused: " << told(done);
  expr::bindings values;
  values["input"] = json::parse(R"({"id": 1})").value();
  values["saga"] = json::value{};
  values["steps"] = json::value{};
  auto const text = first_action(done).in.render(values);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, testing::StartsWith("a: b: "));
}

TEST(templates, aliases_are_values_like_any_other) {
  auto const done = load_definition(
      saga_with("  - {id: a, read_only: true, call: shop x, in: &same {v: 1}}\n  - {id: b, read_only: true, call: shop x, in: *same}\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  EXPECT_EQ(action_of(done.definition->steps[1]).in.render({}).value(), R"({"v":1})");
}

}  // namespace
}  // namespace atone::yaml_test
