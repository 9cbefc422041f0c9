// A participant's answer is foreign text: what is right is read, what is wrong is named by row and field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/audit.hpp>

namespace atone::audit {
namespace {

using testing::HasSubstr;

std::string const id = "01JDZ4M6GQ5V7Y8N2W3X4R5T6K";

std::string page_with(std::string const& row) {
  return R"({"effects":[)" + row + R"(],"next":null})";
}

TEST(effect_page, rows_are_read) {
  auto const read =
      read_effect_page("orders", R"({"effects":[{"saga":")" + id +
                                     R"(","step":"fan/profile/tag","op":"compensate","verdict":"done","applied":1}],"next":"c7"})");
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->effects.size(), 1U);
  auto const& row = read->effects.front();
  EXPECT_EQ(row.service, "orders");
  EXPECT_EQ(row.saga.text(), id);
  EXPECT_EQ(row.step.text(), "fan/profile/tag");
  EXPECT_EQ(row.op, operation::compensate);
  EXPECT_EQ(row.applied, 1U);
  EXPECT_EQ(read->next, "c7");
}

TEST(effect_page, the_last_page_has_no_next) {
  EXPECT_EQ(read_effect_page("orders", R"({"effects":[],"next":null})")->next, "");
  EXPECT_EQ(read_effect_page("orders", R"({"effects":[]})")->next, "");
}

struct wrong_page {
  std::string name;
  std::string text;
  std::string expected;
};
void PrintTo(wrong_page const& of, std::ostream* to) {
  *to << of.name;
}

class effect_page_refused : public testing::TestWithParam<wrong_page> {};

TEST_P(effect_page_refused, with_its_place) {
  auto const read = read_effect_page("orders", GetParam().text);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, errc::invalid_argument);
  EXPECT_THAT(read.error().message, HasSubstr("orders"));
  EXPECT_THAT(read.error().message, HasSubstr(GetParam().expected));
}

std::string row(std::string const& saga, std::string const& op, std::string const& applied) {
  return R"({"saga":)" + saga + R"(,"step":"s","op":)" + op + R"(,"applied":)" + applied + "}";
}

INSTANTIATE_TEST_SUITE_P(all, effect_page_refused,
                         testing::Values(wrong_page{"no_json", "<html>", "no JSON"}, wrong_page{"no_object", "[]", "no object"},
                                         wrong_page{"no_effects", "{}", "'effects'"},
                                         wrong_page{"effects_no_array", R"({"effects":1})", "'effects'"},
                                         wrong_page{"next_number", R"({"effects":[],"next":3})", "'next'"},
                                         wrong_page{"row_no_object", page_with("1"), "row 0"},
                                         wrong_page{"saga_missing", page_with(R"({"step":"s","op":"do","applied":1})"), "'saga'"},
                                         wrong_page{"saga_wrong", page_with(row("\"abc\"", "\"do\"", "1")), "'abc' is no saga id"},
                                         wrong_page{"op_wrong", page_with(row('"' + id + '"', "\"act\"", "1")), "'act' is no operation"},
                                         wrong_page{"op_number", page_with(row('"' + id + '"', "1", "1")), "'op'"},
                                         wrong_page{"applied_negative", page_with(row('"' + id + '"', "\"do\"", "-1")), "'applied'"},
                                         wrong_page{"applied_fraction", page_with(row('"' + id + '"', "\"do\"", "0.5")), "'applied'"},
                                         wrong_page{"applied_text", page_with(row('"' + id + '"', "\"do\"", "\"1\"")), "'applied'"},
                                         wrong_page{"second_row", page_with(row('"' + id + '"', "\"do\"", "1") + ",{}"), "row 1"}),
                         [](auto const& each) { return each.param.name; });

TEST(effect_page, a_page_above_the_limit_is_refused) {
  std::string rows;
  for (std::size_t number = 0; number <= effect_page::rows_max; ++number) rows += number == 0 ? "0" : ",0";
  auto const read = read_effect_page("orders", page_with(rows));
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().message, HasSubstr("10000"));
}

}  // namespace
}  // namespace atone::audit
