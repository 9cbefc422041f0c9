#include <gtest/gtest.h>

#include "http/http_date.hpp"

namespace atone::http {
namespace {

timestamp at_second(std::int64_t seconds) {
  return timestamp{std::chrono::seconds{seconds}};
}

constexpr std::int64_t example = 784111777;  // the moment RFC 9110 shows in its three forms

TEST(http_date, is_written_as_the_rfc_shows_it) {
  EXPECT_EQ(format_http_date(at_second(example)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(format_http_date(at_second(0)), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(format_http_date(at_second(951782400)), "Tue, 29 Feb 2000 00:00:00 GMT");
}

TEST(http_date, reads_all_three_forms) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), at_second(example));
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), at_second(example));
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994"), at_second(example));
  EXPECT_EQ(parse_http_date("Wed Nov 16 08:49:37 1994"), at_second(example + 10 * 86400));
}

TEST(http_date, two_digit_years_below_70_are_of_this_century) {
  EXPECT_EQ(format_http_date(*parse_http_date("Monday, 30-Nov-26 10:00:00 GMT")), "Mon, 30 Nov 2026 10:00:00 GMT");
}

TEST(http_date, reads_what_it_wrote) {
  for (std::int64_t second = 0; second < 4'000'000'000; second += 86'400 * 37 + 3'661) {
    EXPECT_EQ(parse_http_date(format_http_date(at_second(second))), at_second(second));
  }
}

class http_date_refuses : public testing::TestWithParam<char const*> {};

TEST_P(http_date_refuses, what_is_not_a_date) {
  EXPECT_EQ(parse_http_date(GetParam()), std::nullopt) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(texts, http_date_refuses,
                         testing::Values("", "soon", ",", "Sun,", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
                                         "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
                                         "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
                                         "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun Nov  6 08:49:37",
                                         "1994-11-06T08:49:37Z"));

}  // namespace
}  // namespace atone::http
