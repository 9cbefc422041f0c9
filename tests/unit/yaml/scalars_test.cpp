// Scalars mean what JSON means by them, or they are refused.
#include <atone/yaml/scalars.hpp>

#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

using namespace yaml;

scalar_kind kind_of(std::string const& written) {
  auto const tree = read("v: " + written + "\n");
  return meaning_of(*tree.root.value().find("v")).kind;
}

TEST(scalars, json_numbers_are_numbers) {
  for (auto const* number :
       {"0", "-0", "7", "-12", "9007199254740993", "18446744073709551616", "0.1", "-1.50", "1e3", "1E400", "2e-7", "2E+7"}) {
    EXPECT_EQ(kind_of(number), scalar_kind::number) << number;
  }
}

TEST(scalars, what_others_read_as_numbers_is_refused) {
  for (auto const* number : {"010", "-012", "00",   "0x1F", "0XAB", "0o17", "0b11",  "1_000", "+5",   ".5",   "5.",
                             "-.5", "+.5",  "1.e3", ".5e2", "01.5", ".inf", "-.inf", ".Inf",  ".NaN", "1_0.5"}) {
    EXPECT_EQ(kind_of(number), scalar_kind::refused) << number;
  }
}

TEST(scalars, what_looks_a_little_like_a_number_is_a_text) {
  for (auto const* text : {"1a", "v1", "1-2", "12:30", "2026-11-30", "1.2.3", "0xZZ", "e5", "--5", "5s", "1e", "1e+", "a1", "_1",
                           "10.0.0.1", ".", "..", ".x"}) {
    EXPECT_EQ(kind_of(text), scalar_kind::text) << text;
  }
}

TEST(scalars, booleans_are_lower_case) {
  EXPECT_EQ(kind_of("true"), scalar_kind::boolean);
  EXPECT_EQ(kind_of("false"), scalar_kind::boolean);
  for (auto const* word :
       {"True", "TRUE", "False", "FALSE", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"}) {
    EXPECT_EQ(kind_of(word), scalar_kind::refused) << word;
  }
  for (auto const* word : {"y", "n", "yess", "none", "offset", "'yes'", "\"on\"", "'true'"})
    EXPECT_EQ(kind_of(word), scalar_kind::text) << word;
}

TEST(scalars, null_is_written_null) {
  EXPECT_EQ(kind_of("null"), scalar_kind::null);
  for (auto const* word : {"~", "Null", "NULL", ""}) EXPECT_EQ(kind_of(word), scalar_kind::refused) << word;
  EXPECT_EQ(kind_of("'null'"), scalar_kind::text);
  EXPECT_EQ(kind_of("nullable"), scalar_kind::text);
}

TEST(scalars, quotes_and_blocks_make_texts) {
  for (auto const* text : {"'1'", "\"010\"", "|\n  5", ">\n  yes"}) EXPECT_EQ(kind_of(text), scalar_kind::text) << text;
}

std::string json_of(std::string const& yaml) {
  auto const tree = read(yaml);
  report out;
  auto text = to_json(spot{tree.root.value(), ""}, &out);
  EXPECT_TRUE(out.ok());
  return text;
}

TEST(scalars, a_tree_becomes_json_with_numbers_as_written) {
  EXPECT_EQ(json_of("{a: 1E400, b: [-0, 9007199254740993, 0.10], c: null, d: 'x\"y', e: {}}"),
            R"({"a":1E400,"b":[-0,9007199254740993,0.10],"c":null,"d":"x\"y","e":{}})");
  EXPECT_EQ(json_of("a: |\n  one\n  two\n"), R"({"a":"one\ntwo\n"})");
  EXPECT_EQ(json_of("a: ü\n"), "{\"a\":\"ü\"}");
}

TEST(scalars, json_reports_what_it_can_not_write) {
  auto const tree = read("a: [010, ~]\nb: on\n");
  report out;
  to_json(spot{tree.root.value(), "input"}, &out);
  auto const said = out.take();
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said[0].path, "input.a[0]");
  EXPECT_EQ(said[1].path, "input.a[1]");
  EXPECT_EQ(said[2].path, "input.b");
}

TEST(scalars, one_equals_sign_begins_an_expression_two_begin_a_text) {
  auto const tree = read("{a: =x, b: ==x, c: '=x', d: '==x', e: =, f: x=y}");
  auto const& root = tree.root.value();
  EXPECT_TRUE(is_expression(*root.find("a")));
  EXPECT_FALSE(is_expression(*root.find("b")));
  EXPECT_TRUE(is_expression(*root.find("c")));
  EXPECT_FALSE(is_expression(*root.find("d")));
  EXPECT_TRUE(is_expression(*root.find("e")));
  EXPECT_FALSE(is_expression(*root.find("f")));
  EXPECT_EQ(plain_text(*root.find("b")), "=x");
  EXPECT_EQ(plain_text(*root.find("f")), "x=y");
}

TEST(scalars, grammar_of_json_numbers) {
  for (auto const* good : {"0", "-0", "10", "1.5", "1e5", "1E+5", "-1.5e-5"}) EXPECT_TRUE(is_json_number(good)) << good;
  for (auto const* bad : {"", "-", "01", "1.", ".1", "1e", "1e+", "+1", "1.5.", "1ee5", "0x1", " 1", "1 "})
    EXPECT_FALSE(is_json_number(bad)) << bad;
  EXPECT_TRUE(is_json_integer("-12"));
  EXPECT_FALSE(is_json_integer("1.0"));
  EXPECT_FALSE(is_json_integer("1e3"));
}

}  // namespace
}  // namespace atone::yaml_test
