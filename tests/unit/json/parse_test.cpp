// What is accepted, what is refused and where, and that raw() never changes a byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/json.hpp>

namespace atone::json {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

value read(std::string_view text) {
  auto parsed = parse(std::string{text});
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : value{};
}

std::string refusal(std::string_view text, limits const& bounds = {}) {
  auto const parsed = parse(std::string{text}, bounds);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(json_parse, default_value_is_null) {
  value const nothing;
  EXPECT_TRUE(nothing.is_null());
  EXPECT_EQ(nothing.raw(), "null");
  EXPECT_EQ(nothing.size(), 0U);
  EXPECT_FALSE(nothing.find("a"));
  EXPECT_FALSE(nothing.at(0));
  EXPECT_TRUE(nothing.elements().empty());
}

TEST(json_parse, scalars) {
  EXPECT_TRUE(read(" null ").is_null());
  EXPECT_TRUE(read("true").as_bool());
  EXPECT_FALSE(read("\n\tfalse\r").as_bool());
  EXPECT_EQ(read("\"text\"").as_string(), "text");
  EXPECT_EQ(read("12").as_int64(), 12);
}

TEST(json_parse, raw_keeps_every_byte) {
  constexpr std::string_view text = R"( {"a" : [1.0, -0 ,1E400,"\u0041\/"] , "b":{ } } )";
  auto const parsed = read(text);
  EXPECT_EQ(parsed.raw(), text.substr(1, text.size() - 2));
  EXPECT_EQ(parsed.find("a")->raw(), R"([1.0, -0 ,1E400,"\u0041\/"])");
  EXPECT_EQ(parsed.find("a")->at(2)->raw(), "1E400");
  EXPECT_EQ(parsed.find("a")->at(3)->raw(), R"("\u0041\/")");
  EXPECT_EQ(parsed.find("b")->raw(), "{ }");
}

TEST(json_parse, a_value_outlives_the_one_it_came_from) {
  value inner;
  {
    auto const outer = read(R"({"a":{"b":[1,2,3]}})");
    inner = *outer.find("a")->find("b");
  }
  EXPECT_EQ(inner.raw(), "[1,2,3]");
}

TEST(json_parse, members_come_in_the_order_of_the_text) {
  auto const members = read(R"({"z":1,"a":[{"deep":1}],"\u006d":3})").members();
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[0].first, "z");
  EXPECT_EQ(members[1].first, "a");
  EXPECT_EQ(members[2].first, "m");
  EXPECT_EQ(members[2].second.raw(), "3");
}

TEST(json_parse, find_sees_through_escapes) {
  auto const parsed = read(R"({"\u0061b":1,"c\"d":2})");
  EXPECT_EQ(parsed.find("ab")->raw(), "1");
  EXPECT_EQ(parsed.find("c\"d")->raw(), "2");
  EXPECT_FALSE(parsed.find("\\u0061b"));
}

TEST(json_parse, elements_and_index_agree) {
  for (auto const* text : {"[]", "[1,2,3]", "[[1,[2]],{\"a\":3},4,\"x\"]"}) {
    auto const array = read(text);
    auto const elements = array.elements();
    ASSERT_EQ(elements.size(), array.size());
    for (std::size_t at = 0; at < elements.size(); ++at) EXPECT_EQ(elements[at].raw(), array.at(at)->raw());
    EXPECT_FALSE(array.at(elements.size()));
  }
}

TEST(json_parse, escapes_decode_to_utf8) {
  EXPECT_EQ(read(R"("\"\\\/\b\f\n\r\t")").as_string(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(read(R"("\u00e9\u20AC")").as_string(), "é€");
  EXPECT_EQ(read(R"("\ud83d\ude00!")").as_string(), "😀!");
  EXPECT_EQ(read(R"("\u0000")").as_string(), std::string(1, '\0'));
}

struct refused {
  char const* text;
  char const* why;
};

class json_refused : public ::testing::TestWithParam<refused> {};

TEST_P(json_refused, with_place_and_reason) {
  EXPECT_THAT(refusal(GetParam().text), StartsWith(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    texts, json_refused,
    ::testing::Values(
        refused{"", "1:1: expected a value, found the end of the text"}, refused{"  \n ", "2:2: expected a value"},
        refused{"{\"a\":1,}", "1:8: expected a key in double quotes, found '}'"}, refused{"[1,]", "1:4: expected a value, found ']'"},
        refused{"[1 2]", "1:4: expected ',' or ']', found '2'"}, refused{"{\"a\" 1}", "1:6: expected ':' after the key, found '1'"},
        refused{"{\"a\":1 \"b\":2}", "1:8: expected ',' or '}'"}, refused{"{a:1}", "1:2: expected a key in double quotes"},
        refused{"{'a':1}", "1:2: expected a key in double quotes"}, refused{"[", "1:2: expected a value"},
        refused{"{", "1:2: expected a key"}, refused{"]", "1:1: expected a value"}, refused{"[}", "1:2: expected a value"},
        refused{"{\"a\":[1}", "1:8: expected ',' or ']'"}, refused{"nul", "1:1: expected a value"},
        refused{"nullx", "1:5: expected the end of the text, found 'x'"}, refused{"True", "1:1: expected a value, found 'T'"},
        refused{"NaN", "1:1: expected a value"}, refused{"-Infinity", "1:2: expected a digit after '-'"},
        refused{"1 2", "1:3: expected the end of the text"}, refused{"01", "1:1: a number may not begin with a zero"},
        refused{"-01", "1:1: a number may not begin with a zero"}, refused{"1.", "1:3: expected a digit after '.'"},
        refused{".5", "1:1: expected a value"}, refused{"+1", "1:1: expected a value"},
        refused{"1e", "1:3: expected a digit in the exponent"}, refused{"1e+", "1:4: expected a digit"},
        refused{"0x10", "1:2: expected the end"}, refused{"-", "1:2: expected a digit"}, refused{"\"abc", "1:5: expected a closing '\"'"},
        refused{"\"a\nb\"", "1:3: the control character 0x0A inside a string must be escaped"},
        refused{"\"\\x41\"", "1:3: expected one of"}, refused{"\"\\u12G4\"", "1:2: expected four hex digits"},
        refused{"\"\\u12", "1:2: expected four hex digits"}, refused{"\"\\ud800\"", "1:2: unpaired surrogate"},
        refused{"\"\\udc00\"", "1:2: unpaired surrogate"}, refused{"\"\\ud800\\u0041\"", "1:2: unpaired surrogate"},
        refused{"\"\\ud800x\"", "1:2: unpaired surrogate"}, refused{"// no\n1", "1:1: expected a value, found '/'"},
        refused{"\xEF\xBB\xBF{}", "1:1: begins with a byte order mark"}, refused{"[1,\n \"\xC3(\"]", "2:3: not UTF-8: byte 0xC3"},
        refused{"\"\xC0\x80\"", "1:2: not UTF-8"}, refused{"\"\xED\xA0\x80\"", "1:2: not UTF-8"},
        refused{"\"\xF4\x90\x80\x80\"", "1:2: not UTF-8"}, refused{"\"\xE2\x82\"", "1:2: not UTF-8"}, refused{"\"\xFF\"", "1:2: not UTF-8"},
        refused{"{\"é\": x}", "1:7: expected a value, found 'x'"}));

TEST(json_parse, duplicate_keys_are_refused_however_they_are_spelled) {
  EXPECT_EQ(refusal(R"({"a":1,"b":2,"a":3})"), R"(1:14: duplicate key "a", first given at 1:2)");
  EXPECT_EQ(refusal("{\"a\":1,\n\"\\u0061\":2}"), R"(2:1: duplicate key "a", first given at 1:2)");
  EXPECT_EQ(refusal(R"({"\/":1,"/":2})"), R"(1:9: duplicate key "/", first given at 1:2)");
  EXPECT_THAT(refusal(R"({"x":{"":1,"":2}})"), HasSubstr(R"(duplicate key "")"));
  EXPECT_EQ(refusal(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]})"), "accepted");
}

TEST(json_parse, bounds_are_named) {
  limits small;
  small.depth_max = 3;
  small.values_max = 5;
  small.bytes_max = 30;
  EXPECT_EQ(refusal("[[[1]]]", small), "accepted");
  EXPECT_EQ(refusal("[[[[1]]]]", small), "1:4: nested deeper than 3 levels");
  EXPECT_EQ(refusal("[1,2,3,4]", small), "accepted");
  EXPECT_EQ(refusal("[1,2,3,4,5]", small), "1:10: more than 5 values in one text");
  EXPECT_THAT(refusal("[                                ]", small), HasSubstr("at most 30"));
  EXPECT_EQ(parse("[[[[1]]]]", small).error().code, errc::exhausted);
  EXPECT_EQ(parse("[").error().code, errc::invalid_argument);
}

TEST(json_parse, depth_costs_no_stack) {
  constexpr std::size_t deep = 400'000;
  limits wide;
  wide.depth_max = deep;
  auto const parsed = parse(std::string(deep, '[') + std::string(deep, ']'), wide);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(canonical(*parsed).size(), 2 * deep);
  EXPECT_THAT(refusal(std::string(deep, '[')), StartsWith("1:1025: nested deeper than 1024"));
}

}  // namespace
}  // namespace atone::json
