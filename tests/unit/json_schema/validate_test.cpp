// Validation beyond the public suite: exact numbers, places and words of violations, bounds.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"
#include "validator.hpp"

namespace {

using namespace atone;
using namespace atone::schema_test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

using words = std::vector<std::string>;

// ---- numbers are never rounded ----

TEST(json_schema_numbers, bounds_tell_neighbours_beyond_a_double_apart) {
  EXPECT_TRUE(valid(R"({"maximum":9007199254740993})", "9007199254740993"));
  EXPECT_FALSE(valid(R"({"maximum":9007199254740992})", "9007199254740993"));
  EXPECT_FALSE(valid(R"({"exclusiveMinimum":0.1})", "0.1"));
  EXPECT_TRUE(valid(R"({"exclusiveMinimum":0.1})", "0.10000000000000000000001"));
  EXPECT_TRUE(valid(R"({"minimum":1E400})", "1E400"));
  EXPECT_FALSE(valid(R"({"minimum":1E400})", "9E399"));
  EXPECT_TRUE(valid(R"({"exclusiveMinimum":0})", "1e-400"));
  EXPECT_TRUE(valid(R"({"minimum":0})", "-0"));
}

TEST(json_schema_numbers, multiples_of_decimals) {
  EXPECT_TRUE(valid(R"({"multipleOf":0.01})", "19.99"));
  EXPECT_FALSE(valid(R"({"multipleOf":0.01})", "19.999"));
  EXPECT_TRUE(valid(R"({"multipleOf":0.1})", "0.3"));
  EXPECT_TRUE(valid(R"({"multipleOf":3})", "9007199254740993"));
}

TEST(json_schema_numbers, enum_const_and_unique_compare_by_value) {
  EXPECT_TRUE(valid(R"({"enum":[1.0,2]})", "1"));
  EXPECT_TRUE(valid(R"({"const":100})", "1e2"));
  EXPECT_FALSE(valid(R"({"const":9007199254740993})", "9007199254740992"));
  EXPECT_FALSE(valid(R"({"uniqueItems":true})", "[1,1.0]"));
  EXPECT_TRUE(valid(R"({"uniqueItems":true})", "[9007199254740992,9007199254740993]"));
  EXPECT_FALSE(valid(R"({"uniqueItems":true})", R"([{"a":1,"b":[2]},{"b":[2.0],"a":1e0}])"));
  EXPECT_TRUE(valid(R"({"uniqueItems":true})", R"([1,true,"1",[1],{"1":1},null,0,false,""])"));
}

TEST(json_schema_numbers, integer_is_a_matter_of_value) {
  for (auto const* number : {"1", "1.0", "1e3", "-0", "12345678910111213141516171819202122"})
    EXPECT_TRUE(valid(R"({"type":"integer"})", number));
  for (auto const* number : {"1.5", "1e-3"}) EXPECT_FALSE(valid(R"({"type":"integer"})", number));
}

TEST(json_schema_numbers, an_exponent_of_many_digits_is_compared_only_where_asked) {
  EXPECT_TRUE(valid(R"({"type":"number"})", "1e999999999999999999999999"));
  EXPECT_THAT(violations(R"({"minimum":0})", "1e999999999999999999999999"),
              ElementsAre(": expected an exponent of at most 17 digits, found number 1e999999999999999999999999"));
}

// ---- places and words ----

TEST(json_schema_words, say_where_what_was_found_and_what_was_expected) {
  auto const* with = R"({"type":"object","required":["order_id"],"properties":{"amount":{"type":"integer","minimum":0},
                         "items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","minLength":3}}}}}})";
  EXPECT_THAT(violations(with, R"({"amount":-5,"items":[{"sku":"abc"},{"sku":"x"},7]})"),
              ElementsAre(": the member \"order_id\" is missing; it is required", "/amount: expected at least 0, found number -5",
                          "/items/1/sku: expected at least 3 characters, found string \"x\"", "/items/2: expected object, found number 7"));
}

TEST(json_schema_words, every_keyword_speaks) {
  struct one {
    char const* schema;
    char const* value;
    char const* expected;
  };
  for (auto const& [with, text, expected] : {
           one{R"({"type":["string","null"]})", "1", ": expected null or string, found number 1"},
           one{R"({"enum":["a","b"]})", "\"c\"", ": expected one of [\"a\",\"b\"], found string \"c\""},
           one{R"({"const":{"a":1}})", "null", ": expected object {\"a\":1}, found null"},
           one{R"({"maximum":1.50})", "2", ": expected at most 1.50, found number 2"},
           one{R"({"exclusiveMaximum":2})", "2.0", ": expected less than 2, found number 2.0"},
           one{R"({"exclusiveMinimum":2})", "2", ": expected more than 2, found number 2"},
           one{R"({"multipleOf":0.01})", "0.001", ": expected a multiple of 0.01, found number 0.001"},
           one{R"({"maxLength":1})", "\"ab\"", ": expected at most 1 characters, found string \"ab\""},
           one{R"({"pattern":"^a+$"})", "\"b\"", ": expected text that matches the pattern \"^a+$\", found string \"b\""},
           one{R"({"format":"date"})", "\"today\"", ": expected the format date (such as 2026-11-30), found string \"today\""},
           one{R"({"minItems":2})", "[1]", ": expected at least 2 elements, found 1"},
           one{R"({"maxItems":0})", "[1]", ": expected at most 0 elements, found 1"},
           one{R"({"uniqueItems":true})", "[1,2,1]", "/2: expected elements that differ, found number 1, equal to element 0"},
           one{R"({"contains":{"type":"null"}})", "[1]", ": expected an element that /contains describes, found none among 1"},
           one{R"({"items":[true],"additionalItems":false})", "[1,2]", "/1: nothing is allowed here, found number 2"},
           one{R"({"minProperties":1})", "{}", ": expected at least 1 members, found 0"},
           one{R"({"maxProperties":0})", R"({"a":1})", ": expected at most 0 members, found 1"},
           one{R"({"propertyNames":{"maxLength":1}})", R"({"ab":1})",
               "/ab: the member's name: expected at most 1 characters, found string \"ab\""},
           one{R"({"dependencies":{"a":["b"]}})", R"({"a":1})", ": the member \"b\" is missing; \"a\" needs it"},
           one{R"({"patternProperties":{"^n":{"type":"number"}}})", R"({"nx":"1"})", "/nx: expected number, found string \"1\""},
           one{R"({"not":{"type":"string"}})", "\"a\"", ": expected anything but what /not describes, found string \"a\""},
           one{R"({"oneOf":[{"type":"integer"},{"minimum":2}]})", "3",
               ": matches /oneOf/0 and /oneOf/1; expected exactly one of the 2 schemas of \"oneOf\""},
           one{R"({"if":{"type":"string"},"then":{"minLength":2},"else":{"type":"null"}})", "1", ": expected null, found number 1"},
           one{"false", "1", ": nothing is allowed here, found number 1"},
       }) {
    EXPECT_THAT(violations(with, text), ElementsAre(expected)) << with;
  }
}

TEST(json_schema_words, an_unknown_member_is_told_with_the_nearest_known) {
  auto const* with = R"({"properties":{"order_id":true,"amount":true},"additionalProperties":false})";
  EXPECT_THAT(violations(with, R"({"amout":1,"colour":2})"),
              ElementsAre("/amout: the member \"amout\" is not known; did you mean \"amount\"?",
                          "/colour: the member \"colour\" is not known; no others are allowed"));
}

TEST(json_schema_words, alternatives_tell_the_nearest_reason) {
  auto const* with = R"({"anyOf":[{"type":"string"},{"type":"object","properties":{"a":{"properties":{"b":{"type":"null"}}}}}]})";
  EXPECT_THAT(violations(with, R"({"a":{"b":1}})"),
              ElementsAre(": matches none of the 2 schemas of \"anyOf\"; the nearest: at /a/b: expected null, found number 1"));
  EXPECT_THAT(violations(R"({"oneOf":[{"type":"string"}]})", "1"),
              ElementsAre(": matches none of the 1 schemas of \"oneOf\"; the nearest: expected string, found number 1"));
}

TEST(json_schema_words, pointers_are_escaped) {
  EXPECT_THAT(violations(R"({"additionalProperties":{"type":"null"}})", R"({"a/b~c":1})"),
              ElementsAre("/a~1b~0c: expected null, found number 1"));
}

TEST(json_schema_words, long_values_are_cut_between_characters) {
  std::string const text = "\"" + std::string(58, 'a') + "üüüü\"";
  EXPECT_THAT(violations(R"({"type":"null"})", text), ElementsAre(": expected null, found string \"" + std::string(58, 'a') + "…"));
}

TEST(json_schema_words, a_wrong_type_is_one_violation) {
  EXPECT_THAT(violations(R"({"type":"string","minimum":5,"enum":["a"]})", "1"), SizeIs(1));
}

TEST(json_schema_words, at_most_20_violations_are_listed) {
  std::string list = "1";
  for (int one = 0; one < 100; ++one) list += ",1";
  EXPECT_THAT(violations(R"({"items":{"type":"null"}})", "[" + list + "]"), SizeIs(json_schema::violations_max));
}

// ---- semantics the suite does not reach ----

TEST(json_schema_rules, lengths_count_code_points) {
  EXPECT_TRUE(valid(R"({"maxLength":2})", R"("\ud83d\ude00ü")"));
  EXPECT_FALSE(valid(R"({"minLength":3})", R"("\ud83d\ude00ü")"));
}

TEST(json_schema_rules, patterns_are_not_anchored_and_see_decoded_text) {
  EXPECT_TRUE(valid(R"({"pattern":"b"})", R"("abc")"));
  EXPECT_TRUE(valid(R"({"pattern":"^ü$"})", R"("\u00fc")"));
  EXPECT_FALSE(valid(R"({"pattern":"^a$"})", R"("a\n")"));
}

TEST(json_schema_rules, a_pattern_that_backtracks_elsewhere_is_linear_here) {
  EXPECT_FALSE(valid(R"({"pattern":"^(a+)+$"})", "\"" + std::string(200'000, 'a') + "!\""));
}

TEST(json_schema_rules, enum_and_const_together_both_hold) {
  EXPECT_FALSE(valid(R"({"enum":[1,2],"const":3})", "3"));
  EXPECT_FALSE(valid(R"({"const":3,"enum":[1,2]})", "3"));
  EXPECT_TRUE(valid(R"({"const":2,"enum":[1,2]})", "2"));
  EXPECT_FALSE(valid(R"({"const":2,"enum":[1,2]})", "1"));
}

TEST(json_schema_rules, a_tree_refers_to_itself) {
  auto const* with =
      R"({"$ref":"#/definitions/node","definitions":{"node":{"type":"object","required":["value"],"additionalProperties":false,
      "properties":{"value":{"type":"number"},"children":{"type":"array","items":{"$ref":"#/definitions/node"}}}}}})";
  EXPECT_TRUE(valid(with, R"({"value":1,"children":[{"value":2},{"value":3,"children":[{"value":4}]}]})"));
  EXPECT_THAT(violations(with, R"({"value":1,"children":[{"value":2},{"value":3,"children":[{"valu":4}]}]})"),
              ElementsAre("/children/1/children/0: the member \"value\" is missing; it is required",
                          "/children/1/children/0/valu: the member \"valu\" is not known; did you mean \"value\"?"));
}

TEST(json_schema_rules, nested_alternatives_inside_quiet_checks) {
  auto const* with = R"({"not":{"anyOf":[{"oneOf":[{"type":"string"},{"type":"integer"}]},{"not":{"type":"object"}}]}})";
  EXPECT_TRUE(valid(with, "{}"));
  EXPECT_FALSE(valid(with, "1"));
  EXPECT_FALSE(valid(with, "null"));
}

// ---- bounds ----

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(json_schema_bounds, deep_values_end_in_a_violation_not_in_a_crash) {
  auto const* with = R"({"type":"array","items":{"$ref":"#"}})";
  EXPECT_TRUE(valid(with, nested(300)));
  EXPECT_THAT(violations(with, nested(1'000)), ElementsAre(HasSubstr("takes more than 1000 schemas within each other")));
  EXPECT_THAT(violations(R"({"not":{"items":{"not":{"items":{"$ref":"#"}}}}})", nested(1'000)),
              ElementsAre(HasSubstr("schemas within each other")));
}

// Each level doubles the work: without a bound this would not end.
TEST(json_schema_bounds, work_that_doubles_at_each_level_is_stopped) {
  auto const with =
      schema_detail::compile(value(R"({"anyOf":[{"items":{"$ref":"#"},"contains":false},{"items":{"$ref":"#"},"contains":false}]})"));
  ASSERT_TRUE(with);
  auto const found = schema_detail::validator{10'000}.validate(*(*with)->root, value(nested(60)));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].message, HasSubstr("too many steps"));
}

TEST(json_schema_bounds, comparing_long_values_costs_steps) {
  auto const with = schema_detail::compile(value(R"({"items":{"enum":["a"]}})"));
  ASSERT_TRUE(with);
  auto const text = value("[\"" + std::string(200, 'b') + "\"]");
  EXPECT_THAT(schema_detail::validator{300}.validate(*(*with)->root, text)[0].message, HasSubstr("expected one of"));
  EXPECT_THAT(schema_detail::validator{100}.validate(*(*with)->root, text)[0].message, HasSubstr("too many steps"));
}

TEST(json_schema_bounds, a_schema_may_be_shared_and_outlive_its_text) {
  json_schema kept = schema("true");
  {
    auto const made = schema(R"({"definitions":{"a":{"enum":["x"]}},"items":{"$ref":"#/definitions/a"}})");
    kept = made;
  }
  EXPECT_TRUE(kept.validate(value(R"(["x"])")).empty());
  EXPECT_FALSE(kept.validate(value(R"(["y"])")).empty());
}

}  // namespace
