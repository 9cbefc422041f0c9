// The tree: what yaml-cpp loses or accepts in silence is kept or refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

using namespace yaml;
using testing::HasSubstr;

TEST(tree, nodes_know_their_places) {
  auto const tree = read("a: 1\nb:\n  - x\n  - {c: y}\n");
  auto const& root = tree.root.value();
  EXPECT_EQ(root.find("a")->at.line, 1U);
  EXPECT_EQ(root.find("a")->at.column, 4U);
  EXPECT_EQ(root.find("b")->items.at(1).find("c")->at.line, 4U);
  EXPECT_EQ(root.find("b")->items.at(1).find("c")->at.column, 9U);
  EXPECT_EQ(root.find("nothing"), nullptr);
}

TEST(tree, places_count_characters) {
  auto const tree = read("{é: ü, x: y}\n");
  EXPECT_EQ(tree.root->find("x")->at.column, 11U);
}

TEST(tree, styles_are_kept) {
  auto const tree = read("a: x\nb: 'x'\nc: \"x\"\nd: |\n  x\ne: >\n  x\nf: &n 'x'\n");
  auto const& root = tree.root.value();
  EXPECT_EQ(root.find("a")->style, scalar_style::plain);
  EXPECT_EQ(root.find("b")->style, scalar_style::quoted);
  EXPECT_EQ(root.find("c")->style, scalar_style::quoted);
  EXPECT_EQ(root.find("d")->style, scalar_style::block);
  EXPECT_EQ(root.find("e")->style, scalar_style::block);
  EXPECT_EQ(root.find("f")->style, scalar_style::quoted);
}

TEST(tree, text_columns_point_at_the_first_character) {
  auto const tree = read("a: =x\nb: '=x'\nc: 'it''s'\n");
  auto const& root = tree.root.value();
  EXPECT_TRUE(root.find("a")->verbatim);
  EXPECT_EQ(root.find("a")->text_column, 4U);
  EXPECT_TRUE(root.find("b")->verbatim);
  EXPECT_EQ(root.find("b")->text_column, 5U);
  EXPECT_FALSE(root.find("c")->verbatim);
}

TEST(tree, a_comment_behind_a_plain_scalar_is_seen) {
  auto const tree = read("a: x # why\nb: x#y\nc: 'x' # why\nd: x\n# why\n");
  auto const& root = tree.root.value();
  EXPECT_TRUE(root.find("a")->comment_follows);
  EXPECT_FALSE(root.find("b")->comment_follows);
  EXPECT_FALSE(root.find("c")->comment_follows);
  EXPECT_FALSE(root.find("d")->comment_follows);
}

TEST(tree, a_written_null_differs_from_nothing) {
  auto const tree = read("a: null\nb:\nc: ~\nd: ''\n");
  auto const& root = tree.root.value();
  EXPECT_TRUE(root.find("a")->written);
  EXPECT_FALSE(root.find("b")->written);
  EXPECT_EQ(root.find("c")->text, "~");
  EXPECT_EQ(root.find("d")->kind, node_kind::scalar);
}

TEST(tree, keys_twice_are_refused_at_every_level) {
  auto const tree = read("a: 1\nb:\n  - {c: 1, c: 2}\na: 3\n");
  ASSERT_EQ(tree.said.size(), 2U);
  EXPECT_EQ(tree.said[0].path, "b[0].c");
  EXPECT_EQ(tree.said[0].line, 3U);
  EXPECT_EQ(tree.said[1].path, "a");
  EXPECT_THAT(tree.said[1].message, HasSubstr("the first is on line 1"));
}

TEST(tree, keys_that_differ_only_in_quotes_are_the_same) {
  EXPECT_THAT(first(read("{a: 1, 'a': 2}").said), HasSubstr("stands twice"));
}

TEST(tree, one_document_only) {
  EXPECT_THAT(first(read("a: 1\n---\nb: 2\n").said), HasSubstr("a second document"));
  EXPECT_THAT(first(read("a: 1\n...\nb: 2\n").said), HasSubstr("a second document"));
  EXPECT_TRUE(read("---\na: 1\n...\n").said.empty());
  EXPECT_TRUE(read("# comment\n---\na: 1\n").said.empty());
}

TEST(tree, nothing_is_not_a_document) {
  for (auto const* text : {"", "\n\n", "# comment\n", "   "}) EXPECT_THAT(first(read(text).said), HasSubstr("empty")) << text;
}

TEST(tree, aliases_repeat_their_anchor) {
  auto const tree = read("a: &x {b: [1, 2]}\nc: *x\nd: [*x, *x]\n");
  ASSERT_TRUE(tree.said.empty());
  EXPECT_EQ(tree.root->find("d")->items.at(1).find("b")->items.size(), 2U);
  EXPECT_EQ(tree.root->find("c")->at.line, 1U);
}

TEST(tree, an_anchor_can_be_given_again) {
  auto const tree = read("a: &x 1\nb: &x 2\nc: *x\n");
  EXPECT_EQ(tree.root->find("c")->text, "2");
}

TEST(tree, cycles_are_refused) {
  EXPECT_THAT(first(read("a: &x [*x]\n").said), HasSubstr("cycle"));
  EXPECT_THAT(first(read("&x a: *x\nb: 1\n").said), testing::AnyOf(HasSubstr("cycle"), testing::IsEmpty()));
  EXPECT_THAT(first(read("a: &x\n  b:\n    c: *x\n").said), HasSubstr("cycle"));
}

TEST(tree, quotes_must_close) {
  EXPECT_THAT(first(read("a: \"x\n").said), HasSubstr("never closed"));
  EXPECT_THAT(first(read("a: 'x\nb: 1\n").said), HasSubstr("never closed"));
  EXPECT_TRUE(read("a: \"x\\\"\"\nb: 'it''s'\n").said.empty());
}

TEST(tree, tags_and_merge_keys_and_map_keys_are_refused) {
  EXPECT_THAT(first(read("a: !money 5\n").said), HasSubstr("tag `!money`"));
  EXPECT_THAT(first(read("a: !!map {}\n").said), HasSubstr("tag"));
  EXPECT_THAT(first(read("a: {<<: {b: 1}}\n").said), HasSubstr("merge keys"));
  EXPECT_TRUE(read("a: {'<<': 1}\n").said.empty());
  EXPECT_THAT(first(read("{{a: 1}: 2}\n").said), HasSubstr("a key must be a text"));
  EXPECT_THAT(first(read("? \n: 2\n").said), HasSubstr("a key must be a text; found nothing"));
}

TEST(tree, tabs_as_indentation_are_named) {
  EXPECT_THAT(first(read("a:\n\tb: 1\n").said), HasSubstr("tab"));
  EXPECT_THAT(first(read("a:\n  b: 1\n\tc: 2\n").said), HasSubstr("tab"));
  EXPECT_TRUE(read("a:\tb\nc: |\n  x\n  \ty\n").said.empty());
}

TEST(tree, what_a_comma_cut_off_is_marked) {
  auto const tree = read("{max: =min(a, b), c: 1, d}\n");
  auto const& entries = tree.root->entries;
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_TRUE(is_cut_expression(entries[0].value));
  EXPECT_TRUE(entries[1].left_over);
  EXPECT_FALSE(entries[2].left_over);
  EXPECT_FALSE(entries[3].left_over);
}

TEST(tree, a_complete_expression_is_not_cut) {
  for (auto const* text : {"=f(a)", "=[1]", "=x", "='a('", "=\"\\\"(\"", "=", "x(", "=a)"}) {
    node scalar;
    scalar.kind = node_kind::scalar;
    scalar.text = text;
    EXPECT_FALSE(is_cut_expression(scalar)) << text;
  }
  for (auto const* text : {"=f(a", "=[1", "={", "=a + '", "=f(')'"}) {
    node scalar;
    scalar.kind = node_kind::scalar;
    scalar.text = text;
    EXPECT_TRUE(is_cut_expression(scalar)) << text;
  }
}

TEST(tree, syntax_errors_say_when_an_expression_was_cut) {
  for (auto const* text : {"a: =b ? 'c' : 'd'\n", "a: {b: =c.items[0].id}\n", "a: [=b[0]]\n", "a: {b: ={'c': 1}.c}\n"}) {
    auto const tree = read(text);
    EXPECT_THAT(first(tree.said), HasSubstr("YAML cuts the expression")) << text;
    EXPECT_EQ(tree.said.at(0).hint, "quote the expression");
  }
  EXPECT_THAT(first(read("a: b: c\n").said), HasSubstr("a value can't begin here"));
  EXPECT_THAT(first(read("a: b=c: d\n").said), HasSubstr("a value can't begin here"));
}

TEST(tree, other_syntax_errors_have_a_place) {
  for (auto const* text : {"a: [1, 2\n", "a: {b: 1\n", "a: @x\n", "a: `x`\n", "a: \"\\q\"\n", "a: *x\n", "a: %\n", "%YAML 3.0\n---\na: 1\n",
                           "a: 1\n b: 2\n", "]\n", "}\n", "a: - b\n", "&\n", "*\n", "!<\n", "a: |7x\n"}) {
    auto const tree = read(text);
    ASSERT_FALSE(tree.said.empty()) << text;
    EXPECT_GE(tree.said[0].line, 1U);
    EXPECT_FALSE(tree.root.has_value()) << text;
  }
}

TEST(tree, descriptions_are_short_and_whole) {
  EXPECT_EQ(describe(*read("a: []").root->find("a")), "an empty list");
  EXPECT_EQ(describe(*read("a: {}").root->find("a")), "an empty map");
  EXPECT_EQ(describe(*read("a: ''").root->find("a")), "an empty text");
  auto const text = describe(*read("a: " + std::string(59, 'x') + "é…\n").root->find("a"));
  EXPECT_EQ(text, "`" + std::string(59, 'x') + "…`");
  EXPECT_EQ(describe(*read("a: \"x\\ny\"\n").root->find("a")), "`x y`");
}

TEST(tree, paths_quote_unusual_keys) {
  EXPECT_EQ(child_path("a", "b-c_1"), "a.b-c_1");
  EXPECT_EQ(child_path("", "a"), "a");
  EXPECT_EQ(child_path("a", "b.c"), "a[\"b.c\"]");
  EXPECT_EQ(child_path("a", ""), "a[\"\"]");
  EXPECT_EQ(item_path("a", 3), "a[3]");
}

}  // namespace
}  // namespace atone::yaml_test
