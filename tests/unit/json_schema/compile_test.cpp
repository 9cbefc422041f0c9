// What is refused when a schema is read, where, and in which words.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace {

using namespace atone;
using namespace atone::schema_test;
using testing::HasSubstr;
using testing::StartsWith;

TEST(json_schema_compile, a_schema_is_an_object_or_a_boolean) {
  EXPECT_EQ(mistake("{}"), "");
  EXPECT_EQ(mistake("true"), "");
  EXPECT_EQ(mistake("false"), "");
  EXPECT_EQ(mistake("[]"), ": expected a schema (an object, true or false), found array []");
  EXPECT_EQ(mistake(R"({"properties":{"a":1}})"), "/properties/a: expected a schema (an object, true or false), found number 1");
}

TEST(json_schema_compile, unknown_keywords_are_refused_with_the_nearest_known) {
  EXPECT_EQ(mistake(R"({"minimun":1})"), R"(/minimun: unknown keyword "minimun"; did you mean "minimum"?)");
  EXPECT_EQ(mistake(R"({"properties":{"a":{"requierd":[]}}})"),
            R"(/properties/a/requierd: unknown keyword "requierd"; did you mean "required"?)");
  EXPECT_EQ(mistake(R"({"colour":1})"), R"(/colour: unknown keyword "colour"; expected a keyword of draft-07)");
  EXPECT_EQ(mistake(R"({"$defs":{}})"), R"(/$defs: unknown keyword "$defs"; draft-07 calls it "definitions")");
}

TEST(json_schema_compile, later_and_earlier_drafts_are_unknown) {
  for (auto const* keyword : {"dependentRequired", "unevaluatedProperties", "prefixItems", "$anchor", "id", "divisibleBy", "nullable"}) {
    EXPECT_THAT(mistake(std::string{"{\""} + keyword + "\":1}"), HasSubstr("unknown keyword")) << keyword;
  }
}

TEST(json_schema_compile, annotations_are_accepted) {
  EXPECT_EQ(mistake(R"({"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://example.org/order","title":"Order",
                        "description":"What","$comment":"why","default":1,"examples":[1,2],"readOnly":true,"writeOnly":false})"),
            "");
  EXPECT_THAT(mistake(R"({"title":1})"), StartsWith("/title: expected a string"));
}

TEST(json_schema_compile, only_draft_07_is_taken) {
  EXPECT_THAT(mistake(R"({"$schema":"http://json-schema.org/draft-04/schema#"})"), HasSubstr("draft-07"));
  EXPECT_THAT(mistake(R"({"$schema":"https://json-schema.org/draft/2020-12/schema"})"), StartsWith("/$schema: expected"));
  EXPECT_THAT(mistake(R"({"items":{"$schema":"http://json-schema.org/draft-07/schema#"}})"), HasSubstr("top of the document"));
}

TEST(json_schema_compile, types_are_known_and_stand_once) {
  EXPECT_EQ(mistake(R"({"type":["integer","null"]})"), "");
  EXPECT_THAT(mistake(R"({"type":"int"})"), HasSubstr(R"(integer, number, string, array or object, found string "int")"));
  EXPECT_THAT(mistake(R"({"type":["string","string"]})"), HasSubstr("stands there twice"));
  EXPECT_THAT(mistake(R"({"type":[]})"), StartsWith("/type: expected at least one type"));
  EXPECT_THAT(mistake(R"({"type":null})"), HasSubstr("found null"));
}

TEST(json_schema_compile, values_of_keywords_have_their_forms) {
  struct one {
    char const* schema;
    char const* expected;
  };
  for (auto const& [text, expected] : {
           one{R"({"minLength":-1})", "/minLength: expected a whole number, 0 or more, found number -1"},
           one{R"({"maxItems":1.5})", "/maxItems: expected a whole number, 0 or more, found number 1.5"},
           one{R"({"minProperties":"2"})", "/minProperties: expected a whole number, 0 or more, found string \"2\""},
           one{R"({"maximum":"2"})", "/maximum: expected a number with an exponent of at most 17 digits, found string \"2\""},
           one{R"({"multipleOf":0})", "/multipleOf: expected a number above 0 with at most 18 significant digits, found number 0"},
           one{R"({"uniqueItems":1})", "/uniqueItems: expected true or false, found number 1"},
           one{R"({"required":"a"})", "/required: expected a list of member names, found string \"a\""},
           one{R"({"required":["a","a"]})", "/required: the name \"a\" stands there twice"},
           one{R"({"required":[1]})", "/required: expected member names (strings), found number 1"},
           one{R"({"properties":[]})", "/properties: expected an object, found array []"},
           one{R"({"enum":[]})", "/enum: expected a list of at least one value, found array []"},
           one{R"({"enum":1})", "/enum: expected a list of at least one value, found number 1"},
           one{R"({"allOf":[]})", "/allOf: expected a list of at least one schema, found array []"},
           one{R"({"oneOf":{}})", "/oneOf: expected a list of at least one schema, found object {}"},
           one{R"({"anyOf":[1]})", "/anyOf/0: expected a schema (an object, true or false), found number 1"},
           one{R"({"exclusiveMinimum":true})",
               "/exclusiveMinimum: expected a number with an exponent of at most 17 digits, found boolean true"},
           one{R"({"pattern":1})", "/pattern: expected a regular expression (a string), found number 1"},
           one{R"({"$ref":1})", "/$ref: expected a string such as \"#/definitions/name\", found number 1"},
       }) {
    EXPECT_EQ(mistake(text), expected);
  }
}

TEST(json_schema_compile, counts_may_be_written_in_any_way_and_size) {
  EXPECT_EQ(mistake(R"({"minLength":2.0,"maxLength":1e30,"minItems":0e5})"), "");
  EXPECT_TRUE(valid(R"({"maxLength":2.0})", R"("ab")"));
  EXPECT_FALSE(valid(R"({"maxLength":2.0})", R"("abc")"));
  EXPECT_FALSE(valid(R"({"maxLength":2e1})", R"("123456789012345678901")"));
  EXPECT_TRUE(valid(R"({"maxLength":1e30})", R"("abc")"));
}

TEST(json_schema_compile, formats_that_are_not_checked_are_refused) {
  EXPECT_EQ(mistake(R"({"format":"date-time"})"), "");
  EXPECT_EQ(mistake(R"({"format":"money"})"),
            "/format: the format string \"money\" is not checked here, so it is refused; expected one of "
            "date, date-time, email, hostname, ipv4, ipv6, json-pointer, time, uri, uuid");
  EXPECT_THAT(mistake(R"({"format":7})"), HasSubstr("found number 7"));
}

TEST(json_schema_compile, content_keywords_are_refused) {
  EXPECT_THAT(mistake(R"({"contentEncoding":"base64"})"), HasSubstr("is not checked here, so it is refused"));
  EXPECT_THAT(mistake(R"({"contentMediaType":"text/html"})"), HasSubstr("is not checked here, so it is refused"));
}

TEST(json_schema_compile, patterns_that_RE2_does_not_take_are_refused) {
  EXPECT_THAT(mistake(R"({"pattern":"("})"), StartsWith("/pattern: the pattern is not taken: missing )"));
  EXPECT_THAT(mistake(R"-({"pattern":"a(?=b)"})-"), HasSubstr("look-around"));
  EXPECT_THAT(mistake(R"({"pattern":"(a)\\1"})"), HasSubstr("back references"));
  EXPECT_THAT(mistake(R"({"patternProperties":{"[":{}}})"), StartsWith("/patternProperties/[: the pattern is not taken"));
  EXPECT_THAT(mistake(R"({"pattern":")" + std::string(1025, 'a') + "\"}"), HasSubstr("1025 bytes; at most 1024"));
}

TEST(json_schema_compile, references_lead_to_schemas_of_the_document) {
  EXPECT_EQ(mistake(R"({"$ref":"#/definitions/a","definitions":{"a":{}}})"), "");
  EXPECT_EQ(mistake(R"({"$ref":"#/definitions/b","definitions":{"a":{}}})"),
            "/$ref: no schema at \"#/definitions/b\"; expected a reference within this document, such as \"#/definitions/name\"");
  EXPECT_THAT(mistake(R"({"$ref":"#/definitions"})"), HasSubstr("no schema at"));
  EXPECT_THAT(mistake(R"({"$ref":"https://example.org/a.json"})"), HasSubstr("within this document"));
  EXPECT_THAT(mistake(R"({"properties":{"a":{"$ref":"#/properties/a/title"}}})"), HasSubstr("no schema at"));
}

TEST(json_schema_compile, references_undo_escapes_and_percent_encoding) {
  std::string const text =
      R"({"definitions":{"a~b":{"type":"integer"},"c/d":{"type":"integer"},"e%f":{"type":"integer"},"g h":{"type":"integer"}},
      "properties":{"one":{"$ref":"#/definitions/a~0b"},"two":{"$ref":"#/definitions/c~1d"},
                    "three":{"$ref":"#/definitions/e%25f"},"four":{"$ref":"#/definitions/g%20h"}}})";
  for (auto const* name : {"one", "two", "three", "four"}) {
    EXPECT_TRUE(valid(text, std::string{"{\""} + name + "\":1}")) << name;
    EXPECT_FALSE(valid(text, std::string{"{\""} + name + "\":\"x\"}")) << name;
  }
}

TEST(json_schema_compile, references_by_name_and_through_the_documents_own_id) {
  std::string const text = R"({"$id":"https://example.org/order#","properties":{"a":{"$ref":"#item"},
      "b":{"$ref":"https://example.org/order#/definitions/item"},"c":{"$ref":"https://example.org/order"}},
      "definitions":{"item":{"$id":"#item","type":"integer"}}})";
  EXPECT_TRUE(valid(text, R"({"a":1,"b":2,"c":{"a":3}})"));
  EXPECT_FALSE(valid(text, R"({"a":"1"})"));
  EXPECT_FALSE(valid(text, R"({"b":"1"})"));
  EXPECT_FALSE(valid(text, R"({"c":{"a":"3"}})"));
  EXPECT_THAT(mistake(R"({"items":[{"$id":"#a"},{"$id":"#a"}]})"), HasSubstr("is given twice"));
}

TEST(json_schema_compile, an_id_below_the_top_that_changes_the_base_is_refused) {
  EXPECT_THAT(mistake(R"({"items":{"$id":"folder/"}})"), StartsWith("/items/$id: an \"$id\" below the top"));
}

TEST(json_schema_compile, rules_beside_a_reference_are_refused) {
  EXPECT_EQ(mistake(R"({"definitions":{"a":{}},"items":{"$ref":"#/definitions/a","minimum":1}})"),
            R"(/items/minimum: draft-07 ignores "minimum" beside "$ref"; put both into "allOf")");
  EXPECT_EQ(mistake(R"({"definitions":{"a":{}},"items":{"$ref":"#/definitions/a","description":"what"}})"), "");
}

TEST(json_schema_compile, a_schema_that_leads_to_itself_on_the_same_value_is_refused) {
  for (auto const* text : {R"({"$ref":"#"})", R"({"allOf":[{"$ref":"#"}]})", R"({"not":{"anyOf":[{"$ref":"#"}]}})",
                           R"({"if":{"$ref":"#"}})", R"({"dependencies":{"a":{"$ref":"#"}}})",
                           R"({"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}}})"}) {
    EXPECT_THAT(mistake(text), HasSubstr("refers to itself for the same value")) << text;
  }
  EXPECT_EQ(mistake(R"({"items":{"$ref":"#"},"properties":{"a":{"$ref":"#"}},"additionalProperties":{"$ref":"#"}})"), "");
}

TEST(json_schema_compile, a_shared_schema_is_no_cycle) {
  EXPECT_EQ(mistake(R"({"definitions":{"a":{"type":"integer"}},"allOf":[{"$ref":"#/definitions/a"},{"$ref":"#/definitions/a"}]})"), "");
}

TEST(json_schema_compile, depth_and_number_of_schemas_are_bounded) {
  std::string deep = "{}";
  for (int level = 0; level < 70; ++level) deep = R"({"items":)" + deep + "}";
  EXPECT_THAT(mistake(deep), HasSubstr("the schema is too large; expected at most 64 schemas within each other"));
  std::string wide = "{}";
  for (int one = 0; one < 10'000; ++one) wide += ",{}";
  EXPECT_THAT(mistake(R"({"anyOf":[)" + wide + "]}"), HasSubstr("10000 in all"));
}

TEST(json_schema_compile, keywords_inside_plain_values_are_no_keywords) {
  EXPECT_EQ(mistake(R"({"enum":[{"minimun":1}],"const":{"$ref":"x"},"default":{"colour":1},"examples":[{"$id":"a"}]})"), "");
}

}  // namespace
