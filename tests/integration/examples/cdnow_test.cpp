// The purchase log: real lines are read exactly, broken ones are named.
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cdnow.hpp"

namespace demo {
namespace {

using testing::HasSubstr;

std::string const heading = " customer_id  date number_of_cds  dollar_value\n";

std::string sample() {
  std::ifstream file{std::string{ATONE_SOURCE_DIR} + "/tests/golden/cdnow_sample.txt"};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

atone::timestamp day(int year, unsigned month, unsigned of) {
  return atone::timestamp{
      std::chrono::sys_days{std::chrono::year{year} / static_cast<int>(month) / static_cast<int>(of)}.time_since_epoch()};
}

TEST(cdnow_sample, two_thousand_real_purchases) {
  auto const read = parse_purchases(sample());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->size(), 2000U);
  auto const& first = read->front();
  EXPECT_EQ(first.number, 1U);
  EXPECT_EQ(first.customer, 1U);
  EXPECT_EQ(first.placed_at, day(1997, 1, 1));
  EXPECT_EQ(first.quantity, 1U);
  EXPECT_EQ(first.cents, 1177);
  EXPECT_EQ(read->back().number, 2000U);
  std::set<std::uint32_t> customers;
  for (auto const& each : *read) {
    customers.insert(each.customer);
    EXPECT_GE(each.cents, 0);
    EXPECT_GT(each.quantity, 0U);
    EXPECT_GE(each.placed_at, day(1997, 1, 1));
    EXPECT_LE(each.placed_at, day(1998, 6, 30));
  }
  EXPECT_EQ(customers.size(), 586U);
}

TEST(cdnow_line, line_ends_of_both_kinds) {
  auto const unix_ends = parse_purchases(heading + " 00002 19970112  5   77.00\n");
  auto const dos_ends = parse_purchases(" customer_id  date number_of_cds  dollar_value\r\n 00002 19970112  5   77.00\r\n");
  ASSERT_TRUE(unix_ends.has_value());
  ASSERT_TRUE(dos_ends.has_value());
  EXPECT_EQ(*unix_ends, *dos_ends);
}

TEST(cdnow_line, the_last_line_needs_no_end) {
  EXPECT_EQ(parse_purchases(heading + " 00002 19970112  5   77.00")->size(), 1U);
  EXPECT_EQ(parse_purchases(heading)->size(), 0U);
}

TEST(cdnow_line, every_cent_is_exact) {
  // As a double, 1286.01 * 100 is 128600.99999999999: truncated, a cent would be lost.
  EXPECT_EQ(parse_purchases(heading + " 00002 19970112 99 1286.01\n")->front().cents, 128601);
  EXPECT_EQ(parse_purchases(heading + " 00002 19970112 99    0.00\n")->front().cents, 0);
  EXPECT_EQ(parse_purchases(heading + " 00002 19970112 9999999.99\n")->front().cents, 9999999) << "columns that touch each other";
}

struct broken_line {
  std::string name;
  std::string text;
  std::string expected;
};
void PrintTo(broken_line const& of, std::ostream* to) {
  *to << of.name;
}

class cdnow_refused : public testing::TestWithParam<broken_line> {};

TEST_P(cdnow_refused, with_line_and_column) {
  auto const read = parse_purchases(GetParam().text);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, atone::errc::invalid_argument);
  EXPECT_THAT(read.error().message, HasSubstr(GetParam().expected));
}

std::string const good = " 00001 19970101  1   11.77\n";

INSTANTIATE_TEST_SUITE_P(
    all, cdnow_refused,
    testing::Values(broken_line{"no_heading", good, "line 1: expected the columns' names"}, broken_line{"empty", "", "line 1"},
                    broken_line{"short", heading + good + " 00001 19970101  1   11.7\n", "line 3: found 25 characters, expected 26"},
                    broken_line{"empty_between", heading + "\n" + good, "line 2: found 0"},
                    broken_line{"customer", heading + " 0000x 19970101  1   11.77\n", "line 2, customer (columns 1-5): found '0000x'"},
                    broken_line{"customer_missing", heading + "       19970101  1   11.77\n", "customer"},
                    broken_line{"day", heading + " 00001 19970230  1   11.77\n", "day (columns 7-14): found '19970230'"},
                    broken_line{"day_text", heading + " 00001 1997-1-1  1   11.77\n", "day"},
                    broken_line{"quantity", heading + " 00001 19970101 -1   11.77\n", "quantity (columns 15-17): found '-1'"},
                    broken_line{"dollars_comma", heading + " 00001 19970101  1   11,77\n", "dollars (columns 18-25): found '11,77'"},
                    broken_line{"dollars_one_decimal", heading + " 00001 19970101  1    11.7\n", "dollars"},
                    broken_line{"dollars_negative", heading + " 00001 19970101  1   -1.77\n", "dollars"}),
    [](auto const& each) { return each.param.name; });

}  // namespace
}  // namespace demo
