// The text before the parser: encoding, places, ends of scalars.
#include <atone/yaml/source.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

using namespace yaml;

std::string refusal(std::string_view text) {
  report out;
  if (check_source(text, out)) return "";
  return format(out.take().at(0), "f");
}

TEST(source, utf8_of_every_length_is_taken) {
  EXPECT_EQ(refusal("a: é € 𝄞 \xF4\x8F\xBF\xBF\n"), "");
}

TEST(source, what_is_not_utf8_is_refused_where_it_stands) {
  EXPECT_EQ(refusal("a: b\nc: \xFF\n"), "f:2:4  the text is not UTF-8 here; expected UTF-8 text");
  for (auto const* bad : {"\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF0\x80\x80\xAF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80",
                          "\xC3", "\xE2\x82", "\xC3("}) {
    EXPECT_THAT(refusal(std::string{"é: "} + bad), testing::HasSubstr("f:1:4  the text is not UTF-8")) << bad;
  }
}

TEST(source, control_characters_are_refused) {
  using namespace std::string_view_literals;
  EXPECT_THAT(refusal("a: \0b"sv), testing::HasSubstr("byte 0"));
  EXPECT_THAT(refusal("a: \x1B[31m"), testing::HasSubstr("byte 27"));
  EXPECT_THAT(refusal("a: \x7F"), testing::HasSubstr("byte 127"));
  EXPECT_EQ(refusal("a:\tb\r\n"), "");
}

TEST(source, a_byte_order_mark_is_taken_off) {
  report out;
  EXPECT_EQ(check_source("\xEF\xBB\xBFsaga: x\n", out), "saga: x\n");
  EXPECT_THAT(refusal("\xFE\xFFx"), testing::HasSubstr("not UTF-8"));
}

TEST(source, places_count_characters_not_bytes) {
  auto const at = place_of("ab\néü: x\n", 8);
  EXPECT_EQ(at.line, 2U);
  EXPECT_EQ(at.column, 4U);
  EXPECT_EQ(place_of("", 5).column, 1U);
}

TEST(source, the_line_around_a_byte) {
  EXPECT_EQ(line_at("one\ntwo\r\nthree", 5), "two");
  EXPECT_EQ(line_at("one\ntwo\r\nthree", 11), "three");
  EXPECT_EQ(line_at("", 0), "");
}

TEST(source, anchors_and_tags_stand_before_the_content) {
  EXPECT_EQ(skip_properties("&a !t 'x'", 0), 6U);
  EXPECT_EQ(skip_properties("'x'", 0), 0U);
  EXPECT_EQ(skip_properties("&a", 0), 2U);
}

TEST(source, a_quote_is_closed_by_its_own_kind) {
  EXPECT_TRUE(quote_is_closed("'it''s' x", 0));
  EXPECT_FALSE(quote_is_closed("'it''s", 0));
  EXPECT_TRUE(quote_is_closed(R"("a\"b")", 0));
  EXPECT_FALSE(quote_is_closed(R"("a\")", 0));
  EXPECT_FALSE(quote_is_closed(R"("a')", 0));
  EXPECT_FALSE(quote_is_closed("\"a\\", 0));
}

TEST(source, windows_line_ends_do_not_shift_places) {
  auto text = saga_of_step("    call: nowhere pay\n");
  std::string windows;
  for (char const c : text) windows += c == '\n' ? std::string{"\r\n"} : std::string(1, c);
  EXPECT_EQ(told(load_definition(windows)), told(load_definition(text)));
}

}  // namespace
}  // namespace atone::yaml_test
