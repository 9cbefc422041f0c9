#include "cli/terminal.hpp"

#include <gtest/gtest.h>

#include "cli_support.hpp"

namespace atone::cli {
namespace {

TEST(printable, leaves_text_of_any_language) {
  EXPECT_EQ(printable("Grüße, 你好 ✓"), "Grüße, 你好 ✓");
}

TEST(printable, shows_what_would_steer_a_terminal) {
  EXPECT_EQ(printable("a\x1b[31mred\x07\n"), "a\\x1b[31mred\\x07\\x0a");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // CSI as one C1 character
}

TEST(printable, shows_bytes_that_are_not_utf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xe4\xb8"), "a\\xe4\\xb8");  // cut in the middle
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");    // overlong
}

TEST(display_width, counts_characters_and_no_colours) {
  EXPECT_EQ(display_width("Grüße"), 5U);
  EXPECT_EQ(display_width("\x1b[31mred\x1b[0m"), 3U);
  EXPECT_EQ(display_width(""), 0U);
}

TEST(padded, fills_up_and_never_cuts) {
  EXPECT_EQ(padded("ü", 3), "ü  ");
  EXPECT_EQ(padded("long", 2), "long");
}

TEST(shortened, cuts_at_a_character) {
  EXPECT_EQ(shortened("Grüße", 5), "Grüße");
  EXPECT_EQ(shortened("Grüße", 4), "Grü…");
  EXPECT_EQ(shortened("ab", 1), "…");
  EXPECT_EQ(shortened("ab", 0), "");
}

TEST(paint, colours_only_where_colour_is_on) {
  EXPECT_EQ(captured{}.screen().paint(style::bad, "no"), "no");
  terminal_traits traits;
  traits.colour = true;
  EXPECT_EQ(captured{traits}.screen().paint(style::bad, "no"), "\x1b[31mno\x1b[0m");
  EXPECT_EQ(captured{traits}.screen().paint(style::plain, "no"), "no");
}

}  // namespace
}  // namespace atone::cli
