// Paths against patterns, and fields out of requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kit/route.hpp"

namespace kit {
namespace {

using testing::HasSubstr;

TEST(route_match, placeholders_are_decoded) {
  auto const found = match("/users/{user}/tag", "/users/a%2Fb/tag");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->at("user"), "a/b");
}

TEST(route_match, the_whole_path_must_fit) {
  EXPECT_TRUE(match("/orders", "/orders").has_value());
  EXPECT_FALSE(match("/orders", "/orders/1").has_value());
  EXPECT_FALSE(match("/orders/{id}", "/orders").has_value());
  EXPECT_FALSE(match("/orders/{id}", "/orders/").has_value());
  EXPECT_FALSE(match("/orders/{id}", "/orders/1/x").has_value());
  EXPECT_FALSE(match("/orders", "/order").has_value());
  EXPECT_FALSE(match("/orders", "").has_value());
}

TEST(route_match, a_broken_escape_fits_nothing) {
  EXPECT_FALSE(match("/orders/{id}", "/orders/%zz").has_value());
}

request_context context_with(std::string body) {
  request_context made;
  made.body = *atone::json::parse(std::move(body));
  return made;
}

TEST(request_fields, the_path_comes_first) {
  auto context = context_with(R"({"user": 2})");
  context.path.emplace("user", "1");
  EXPECT_EQ(*context.integer("user"), 1);
}

TEST(request_fields, numbers_are_whole_and_exact) {
  auto const context = context_with(R"({"big": 9007199254740993, "negative": -5, "fraction": 1.5, "text": "1"})");
  EXPECT_EQ(*context.integer("big"), 9007199254740993);
  EXPECT_EQ(*context.integer("negative"), -5);
  EXPECT_THAT(context.integer("fraction").error().message, HasSubstr("field 'fraction': found 1.5"));
  EXPECT_THAT(context.integer("text").error().message, HasSubstr("field 'text'"));
  EXPECT_THAT(context.integer("missing").error().message, HasSubstr("field 'missing': is missing"));
}

TEST(request_fields, text_is_text) {
  auto const context = context_with(R"({"tag": "updating", "number": 1})");
  EXPECT_EQ(*context.text("tag"), "updating");
  EXPECT_THAT(context.text("number").error().message, HasSubstr("expected text"));
}

TEST(request_fields, a_body_that_is_no_object_has_no_fields) {
  EXPECT_FALSE(context_with("[1]").integer("user").has_value());
  EXPECT_FALSE(request_context{}.text("tag").has_value());
}

TEST(request_fields, query_numbers_are_bounded) {
  request_context context;
  EXPECT_EQ(*context.query_number("limit", 7, 10), 7);
  context.query.emplace("limit", "10");
  EXPECT_EQ(*context.query_number("limit", 7, 10), 10);
  context.query["limit"] = "11";
  EXPECT_THAT(context.query_number("limit", 7, 10).error().message, HasSubstr("at most 10"));
}

}  // namespace
}  // namespace kit
