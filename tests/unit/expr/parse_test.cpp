// Where mistakes in the text are found, and the bounds of the text.
#include <gmock/gmock.h>

#include "expr/parser.hpp"
#include "support.hpp"

namespace atone::expr {
namespace {

using ::testing::HasSubstr;

struct place {
  std::size_t offset = 0, length = 0;
};

place refused_at(std::string_view text, declarations const& names = {}) {
  auto const made = program::compile(text, names);
  EXPECT_FALSE(made) << text;
  if (made) return {};
  EXPECT_LE(made.error().offset, text.size());
  return {made.error().offset, made.error().length};
}

void expect_place(std::string_view text, std::size_t offset, std::size_t length, declarations const& names = {}) {
  auto const found = refused_at(text, names);
  EXPECT_EQ(found.offset, offset) << text;
  EXPECT_EQ(found.length, length) << text;
}

TEST(expr_parse, mistakes_point_at_their_place) {
  expect_place("1 + ", 4, 0);
  expect_place("1 +* 2", 3, 1);
  expect_place("(1 + 2", 6, 0);
  expect_place("abc", 0, 3);
  expect_place("1 + abc", 4, 3);
  expect_place("'open", 0, 1);
  expect_place("'a\\qb'", 2, 2);
  expect_place("'a\\ud800'", 2, 6);
  expect_place("1 + 'a'", 2, 1);
  expect_place("[1].frobnicate()", 4, 10);
  expect_place("size(1)", 0, 4);
  expect_place("12abc", 0, 3);
  expect_place("1 ? 2 : 3", 0, 1);
  expect_place("-18446744073709551615", 0, 21);
  expect_place("x.y", 0, 1);
}

TEST(expr_parse, empty_text_is_refused) {
  EXPECT_THAT(refusal_of(""), HasSubstr("empty expression"));
  EXPECT_THAT(refusal_of("   "), HasSubstr("empty expression"));
  EXPECT_THAT(refusal_of("// only a comment"), HasSubstr("empty expression"));
}

TEST(expr_parse, text_must_be_utf8) {
  EXPECT_THAT(refusal_of("'\xFF'"), HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal_of("'é' + é"), HasSubstr("unexpected character 'é'"));
}

TEST(expr_parse, text_is_bounded) {
  std::string const longest = "'" + std::string(text_bytes_max - 2, 'a') + "'";
  EXPECT_EQ(refusal_of(longest), "accepted");
  EXPECT_THAT(refusal_of(longest + " "), HasSubstr("at most 4096"));
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t at = 0; at < count; ++at) out += text;
  return out;
}

TEST(expr_parse, nesting_is_bounded) {
  EXPECT_EQ(refusal_of(repeated("(", 63) + "1" + repeated(")", 63)), "accepted");
  EXPECT_THAT(refusal_of(repeated("(", 64) + "1" + repeated(")", 64)), HasSubstr("nested deeper than 64"));
  EXPECT_EQ(refusal_of(repeated("[", 63) + repeated("]", 63)), "accepted");
  EXPECT_THAT(refusal_of(repeated("[", 65) + repeated("]", 65)), HasSubstr("nested deeper than 64"));
  EXPECT_THAT(refusal_of(repeated("{'a':", 65) + "1" + repeated("}", 65)), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal_of(repeated("size(", 65) + "''" + repeated(")", 65)), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal_of(repeated("true ? 1 : ", 65) + "1"), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal_of(repeated("(", 4000)), HasSubstr("nested deeper"));
}

TEST(expr_parse, long_chains_are_bounded) {
  EXPECT_EQ(outcome_of(repeated("1+", 250) + "1"), "251");
  EXPECT_THAT(refusal_of(repeated("1+", 300) + "1"), HasSubstr("too many operators in a row"));
  EXPECT_THAT(refusal_of(repeated("!", 4000) + "true"), HasSubstr("too many operators in a row"));
  EXPECT_THAT(refusal_of(repeated("-", 4000) + "1"), HasSubstr("too many operators in a row"));
  EXPECT_EQ(outcome_of(repeated("true && ", 500) + "true"), "true");
  EXPECT_EQ(outcome_of(repeated("false || ", 400) + "true"), "true");
  EXPECT_THAT(refusal_of("x" + repeated(".a", 2000), {{"x", type{}}}), HasSubstr("too many operators in a row"));
}

TEST(expr_parse, reserved_words_may_be_fields) {
  EXPECT_EQ(outcome_of("x.if + x.import", R"({"x": {"if": 1, "import": 2}})"), "3");
  EXPECT_THAT(refusal_of("var"), HasSubstr("'var' is a reserved word"));
}

TEST(expr_parse, comments_end_with_the_line) {
  EXPECT_EQ(outcome_of("1 + // one\n 2 // two"), "3");
}

TEST(expr_parse, triple_quotes_hold_lines) {
  EXPECT_EQ(outcome_of("'''a\nb'''"), "\"a\\nb\"");
  EXPECT_EQ(outcome_of("r\"\"\"a\\\nb\"\"\""), "\"a\\\\\\nb\"");
  EXPECT_THAT(refusal_of("'a\nb'"), HasSubstr("this string is not closed"));
  EXPECT_THAT(refusal_of("'''a''"), HasSubstr("expected '''"));
  EXPECT_THAT(refusal_of("'a\\"), HasSubstr("nothing follows the backslash"));
}

TEST(expr_parse, chains_of_one_logical_operator_are_one_node) {
  auto const tree = parse_expression("a && b && c || d");
  ASSERT_TRUE(tree);
  EXPECT_EQ((*tree)->kind, node_kind::any_of);
  ASSERT_EQ((*tree)->children.size(), 2U);
  EXPECT_EQ((*tree)->children[0]->kind, node_kind::all_of);
  EXPECT_EQ((*tree)->children[0]->children.size(), 3U);
}

}  // namespace
}  // namespace atone::expr
