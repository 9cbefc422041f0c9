#include <string>

#include <gtest/gtest.h>

#include "support.hpp"

namespace {

using namespace atone;
using namespace atone::schema_test;
using expr::type;
using expr::type_kind;

type typed(std::string_view text) {
  return schema(text).static_type();
}

TEST(json_schema_type, scalars) {
  EXPECT_EQ(typed(R"({"type":"null"})").kind(), type_kind::null);
  EXPECT_EQ(typed(R"({"type":"boolean"})").kind(), type_kind::boolean);
  EXPECT_EQ(typed(R"({"type":"integer","minimum":0})").kind(), type_kind::integer);
  EXPECT_EQ(typed(R"({"type":"number"})").kind(), type_kind::floating);
  EXPECT_EQ(typed(R"({"type":"string","format":"uuid"})").kind(), type_kind::string);
}

TEST(json_schema_type, a_list_of_one_type_is_that_type) {
  EXPECT_EQ(typed(R"({"type":["string"]})").kind(), type_kind::string);
}

TEST(json_schema_type, what_is_open_is_dynamic) {
  for (auto const* text : {"true", "false", "{}", R"({"type":["string","null"]})", R"({"type":["integer","number"]})", R"({"enum":["a"]})",
                           R"({"const":1})", R"({"anyOf":[{"type":"string"}]})", R"({"properties":{"a":{"type":"string"}}})"}) {
    EXPECT_EQ(typed(text).kind(), type_kind::dynamic) << text;
  }
}

TEST(json_schema_type, objects_know_their_fields) {
  auto const order = typed(R"({"type":"object","required":["id","note"],"properties":{"id":{"type":"integer"},"tag":{"type":"string"}}})");
  ASSERT_EQ(order.kind(), type_kind::object);
  EXPECT_TRUE(order.open());
  ASSERT_NE(order.find("id"), nullptr);
  EXPECT_TRUE(order.find("id")->required);
  EXPECT_EQ(order.find("id")->of->kind(), type_kind::integer);
  ASSERT_NE(order.find("tag"), nullptr);
  EXPECT_FALSE(order.find("tag")->required);
  ASSERT_NE(order.find("note"), nullptr) << "required without a schema of its own";
  EXPECT_TRUE(order.find("note")->required);
  EXPECT_EQ(order.find("note")->of->kind(), type_kind::dynamic);
  EXPECT_EQ(order.find("other"), nullptr);
}

TEST(json_schema_type, additional_properties_false_closes) {
  EXPECT_FALSE(typed(R"({"type":"object","additionalProperties":false})").open());
  EXPECT_TRUE(typed(R"({"type":"object","additionalProperties":{"type":"string"}})").open());
  EXPECT_TRUE(typed(R"({"type":"object","additionalProperties":true})").open());
  EXPECT_TRUE(typed(R"({"type":"object","additionalProperties":false,"patternProperties":{"^x":true}})").open());
}

TEST(json_schema_type, lists_know_their_elements) {
  auto const list = typed(R"({"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"}}}})");
  ASSERT_EQ(list.kind(), type_kind::list);
  ASSERT_EQ(list.element().kind(), type_kind::object);
  EXPECT_EQ(list.element().find("sku")->of->kind(), type_kind::string);
  EXPECT_EQ(typed(R"({"type":"array"})").element().kind(), type_kind::dynamic);
  EXPECT_EQ(typed(R"({"type":"array","items":[{"type":"string"}]})").element().kind(), type_kind::dynamic);
}

TEST(json_schema_type, references_are_followed) {
  auto const order =
      typed(R"({"type":"object","properties":{"a":{"$ref":"#/definitions/money"}},"definitions":{"money":{"type":"integer"}}})");
  EXPECT_EQ(order.find("a")->of->kind(), type_kind::integer);
}

TEST(json_schema_type, a_schema_inside_itself_is_dynamic_there) {
  auto const tree = typed(R"({"type":"object","properties":{"value":{"type":"integer"},"left":{"$ref":"#"}}})");
  EXPECT_EQ(tree.find("value")->of->kind(), type_kind::integer);
  EXPECT_EQ(tree.find("left")->of->kind(), type_kind::dynamic);
}

// Each definition holds the next one twice: followed naively that is 2^40 types.
TEST(json_schema_type, shared_definitions_are_looked_at_once) {
  std::string text = R"({"$ref":"#/definitions/d0","definitions":{)";
  for (int at = 0; at < 40; ++at) {
    auto const next = std::to_string(at + 1);
    text += "\"d" + std::to_string(at) + R"(":{"type":"object","properties":{"a":{"$ref":"#/definitions/d)" + next +
            R"("},"b":{"$ref":"#/definitions/d)" + next + "\"}}},";
  }
  auto const deep = typed(text + R"("d40":{"type":"string"}}})");
  EXPECT_EQ(deep.kind(), type_kind::object);
  EXPECT_EQ(deep.find("a")->of->find("b")->of->kind(), type_kind::object);
}

TEST(json_schema_type, types_of_an_order_input) {
  auto const input = typed(R"({"type":"object","required":["order_id","user_id","amount","items"],"properties":{
      "order_id":{"type":"integer"},"user_id":{"type":"integer"},"amount":{"type":"integer","minimum":0},
      "items":{"type":"array","minItems":1}}})");
  EXPECT_EQ(input.find("amount")->of->kind(), type_kind::integer);
  EXPECT_EQ(input.find("items")->of->kind(), type_kind::list);
  EXPECT_TRUE(input.find("items")->required);
}

}  // namespace
