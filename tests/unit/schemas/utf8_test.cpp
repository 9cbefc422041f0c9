#include <gtest/gtest.h>

#include <atone/utf8.hpp>

namespace atone {
namespace {

TEST(utf8, lengths) {
  EXPECT_EQ(utf8_length("a", 0), 1U);
  EXPECT_EQ(utf8_length("é", 0), 2U);
  EXPECT_EQ(utf8_length("€", 0), 3U);
  EXPECT_EQ(utf8_length("😀", 0), 4U);
  EXPECT_EQ(utf8_length("é", 1), 0U);
  EXPECT_EQ(utf8_length("", 0), 0U);
  EXPECT_EQ(utf8_length("\xF0\x9F\x98", 0), 0U);
}

TEST(utf8, every_character_reads_back_and_no_surrogate_does) {
  for (char32_t character = 0; character <= 0x10FFFF; character += character < 0x3000 ? 1 : 97) {
    std::string text;
    append_utf8(text, character);
    bool const surrogate = character >= 0xD800 && character <= 0xDFFF;
    ASSERT_EQ(utf8_length(text, 0), surrogate ? 0U : text.size()) << static_cast<std::uint32_t>(character);
  }
}

TEST(utf8, first_bad_byte) {
  EXPECT_EQ(find_bad_utf8("plain é text"), std::string_view::npos);
  EXPECT_EQ(find_bad_utf8("ab\xC0\x80"), 2U);
  EXPECT_EQ(find_bad_utf8("\xE0\x80\x80"), 0U);
  EXPECT_EQ(find_bad_utf8("é\xF5"), 2U);
  EXPECT_EQ(find_bad_utf8("\xF4\x90\x80\x80"), 0U);
}

}  // namespace
}  // namespace atone
