#include "number.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace atone::schema_detail;

exact_number number(std::string_view raw) {
  auto const read = exact_number::of(raw);
  EXPECT_TRUE(read) << raw;
  return read.value_or(exact_number{});
}

bool multiple(std::string_view of, std::string_view by) {
  auto const made = divisor::make(number(by));
  EXPECT_TRUE(made) << by;
  return made && made->divides(number(of));
}

TEST(exact_number, compares_by_value_however_it_is_written) {
  for (auto const* raw : {"100", "1e2", "1E+2", "100.0", "1.00e2", "10000e-2", "0.1e3", "1000000000000000000000e-19"}) {
    EXPECT_EQ(compare(number(raw), number("100")), std::strong_ordering::equal) << raw;
  }
}

TEST(exact_number, zero_is_zero_with_any_sign_and_exponent) {
  for (auto const* raw : {"0", "-0", "0.000", "-0.0", "0e5", "0e999999999999999999999999"}) {
    EXPECT_TRUE(number(raw).zero()) << raw;
    EXPECT_EQ(compare(number(raw), number("0")), std::strong_ordering::equal) << raw;
  }
}

TEST(exact_number, orders_what_a_double_could_not_tell_apart) {
  std::vector<std::string> const rising{"-1e400",
                                        "-9007199254740993",
                                        "-9007199254740992",
                                        "-1",
                                        "-0.1",
                                        "-1e-400",
                                        "0",
                                        "1e-400",
                                        "1e-399",
                                        "0.1",
                                        "0.10000000000000000000000000000001",
                                        "9007199254740992",
                                        "9007199254740992.000000001",
                                        "9007199254740993",
                                        "1e308",
                                        "1e400",
                                        "1.0000000000000000000000001e400",
                                        "1e99999999999999999"};
  for (std::size_t left = 0; left < rising.size(); ++left) {
    for (std::size_t right = 0; right < rising.size(); ++right) {
      EXPECT_EQ(compare(number(rising[left]), number(rising[right])), left <=> right) << rising[left] << " and " << rising[right];
    }
  }
}

TEST(exact_number, refuses_an_exponent_of_more_than_17_digits) {
  EXPECT_TRUE(exact_number::of("1e99999999999999999"));
  EXPECT_TRUE(exact_number::of("1e-000000000000000000000000000007"));
  EXPECT_FALSE(exact_number::of("1e100000000000000000"));
  EXPECT_FALSE(exact_number::of("1e-100000000000000000"));
}

TEST(exact_number, whole_is_a_matter_of_value) {
  for (auto const* raw : {"0", "-0.0", "1", "1.0", "1e3", "1.5e1", "-20", "1e400", "12345678910111213141516171819202122"}) {
    EXPECT_TRUE(number(raw).whole()) << raw;
  }
  for (auto const* raw : {"0.5", "1.5", "1e-1", "1.05e1", "9007199254740992.5", "1e-400"}) EXPECT_FALSE(number(raw).whole()) << raw;
}

TEST(divisor, divides_decimals_exactly) {
  EXPECT_TRUE(multiple("0.3", "0.1"));  // in doubles 0.3 / 0.1 is not 3
  EXPECT_TRUE(multiple("4.02", "0.01"));
  EXPECT_TRUE(multiple("19.99", "0.01"));
  EXPECT_FALSE(multiple("19.995", "0.01"));
  EXPECT_TRUE(multiple("0.0075", "0.0001"));
  EXPECT_FALSE(multiple("0.00751", "0.0001"));
  EXPECT_TRUE(multiple("4.5", "1.5"));
  EXPECT_FALSE(multiple("35", "1.5"));
}

TEST(divisor, divides_zero_and_negative_numbers) {
  EXPECT_TRUE(multiple("0", "7"));
  EXPECT_TRUE(multiple("-0.0", "0.3"));
  EXPECT_TRUE(multiple("-21", "7"));
  EXPECT_FALSE(multiple("-22", "7"));
}

TEST(divisor, divides_beyond_64_bits_and_at_any_exponent) {
  EXPECT_TRUE(multiple("9007199254740993", "3"));
  EXPECT_FALSE(multiple("9007199254740992", "3"));
  EXPECT_TRUE(multiple("123456789012345678901234567890", "10"));
  EXPECT_FALSE(multiple("123456789012345678901234567891", "10"));
  EXPECT_TRUE(multiple("1e400", "2"));
  EXPECT_FALSE(multiple("1e400", "3"));
  EXPECT_TRUE(multiple("3e99999999999999999", "3"));
  EXPECT_FALSE(multiple("1e-400", "1"));
  EXPECT_TRUE(multiple("999999999999999999999999999999999999", "999999999999999999"));
  EXPECT_FALSE(multiple("999999999999999999999999999999999998", "999999999999999999"));
}

TEST(divisor, must_be_above_zero_and_of_at_most_18_digits) {
  EXPECT_FALSE(divisor::make(number("0")));
  EXPECT_FALSE(divisor::make(number("-2")));
  EXPECT_TRUE(divisor::make(number("123456789012345678")));
  EXPECT_FALSE(divisor::make(number("1234567890123456789")));
  EXPECT_TRUE(divisor::make(number("1e300")));
}

// Against 64-bit arithmetic, where that can tell.
TEST(divisor, agrees_with_integer_arithmetic) {
  std::mt19937_64 random{11};
  for (int round = 0; round < 2'000; ++round) {
    auto const by = static_cast<std::int64_t>(random() % 1'000) + 1;
    auto const of = static_cast<std::int64_t>(random() % 2'000'000) - 1'000'000;
    ASSERT_EQ(multiple(std::to_string(of), std::to_string(by)), of % by == 0) << of << " by " << by;
    ASSERT_EQ(multiple(std::to_string(of) + "e-2", std::to_string(by) + "e-2"), of % by == 0) << of << " by " << by;
    ASSERT_EQ(compare(number(std::to_string(of)), number(std::to_string(by))), of <=> by);
  }
}

}  // namespace
