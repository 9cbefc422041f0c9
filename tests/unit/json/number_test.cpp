// Numbers are exact: as they are read, as they compare, and in the canonical form.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include <atone/json.hpp>

#include "json/decimal.hpp"

namespace atone::json {
namespace {

value read(std::string_view text) {
  auto parsed = parse(std::string{text});
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : value{};
}

bool same(std::string_view left, std::string_view right) {
  return equal(read(left), read(right));
}

TEST(json_number, whole_numbers_are_exact_or_nothing) {
  EXPECT_EQ(read("9223372036854775807").as_int64(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(read("-9223372036854775808").as_int64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_FALSE(read("9223372036854775808").as_int64());
  EXPECT_FALSE(read("-9223372036854775809").as_int64());
  EXPECT_EQ(read("-0").as_int64(), 0);
  EXPECT_FALSE(read("1.0").as_int64());
  EXPECT_FALSE(read("1e3").as_int64());
  EXPECT_FALSE(read("\"1\"").as_int64());
}

TEST(json_number, unsigned_numbers_are_exact_or_nothing) {
  EXPECT_EQ(read("18446744073709551615").as_uint64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(read("18446744073709551616").as_uint64());
  EXPECT_EQ(read("-0").as_uint64(), 0U);
  EXPECT_FALSE(read("-1").as_uint64());
  EXPECT_FALSE(read("1.0").as_uint64());
}

TEST(json_number, doubles_are_the_nearest_finite) {
  EXPECT_EQ(read("0.1").as_double(), 0.1);
  EXPECT_EQ(read("1e308").as_double(), 1e308);
  EXPECT_EQ(read("5e-324").as_double(), 5e-324);
  EXPECT_EQ(read("1e-400").as_double(), 0.0);
  EXPECT_TRUE(std::signbit(*read("-1e-400").as_double()));
  EXPECT_EQ(read("0e999999999999").as_double(), 0.0);
  EXPECT_FALSE(read("1E400").as_double());
  EXPECT_FALSE(read("-1E400").as_double());
  EXPECT_FALSE(read("1e99999999999999999999").as_double());
  EXPECT_EQ(read("1e-99999999999999999999").as_double(), 0.0);
  EXPECT_FALSE(read("null").as_double());
}

TEST(json_number, equal_by_value) {
  EXPECT_TRUE(same("1", "1.0"));
  EXPECT_TRUE(same("1", "1e0"));
  EXPECT_TRUE(same("100", "1E+2"));
  EXPECT_TRUE(same("0.001", "1e-3"));
  EXPECT_TRUE(same("0", "-0.00e7"));
  EXPECT_TRUE(same("12.50", "1250e-2"));
  EXPECT_TRUE(same("1e400", "10e399"));
  EXPECT_TRUE(same("1e99999999999999999999", "10E99999999999999999998"));
  EXPECT_TRUE(same("1e-99999999999999999999", "0.1e-99999999999999999998"));
}

TEST(json_number, unequal_without_rounding) {
  EXPECT_FALSE(same("9007199254740993", "9007199254740992"));
  EXPECT_FALSE(same("9007199254740993", "9007199254740992.0"));
  EXPECT_FALSE(same("1E400", "1E401"));
  EXPECT_FALSE(same("1E400", "-1E400"));
  EXPECT_FALSE(same("0.1", "0.10000000000000000555"));
  EXPECT_FALSE(same("1e-400", "0"));
  EXPECT_FALSE(same("1", "true"));
  EXPECT_FALSE(same("1", "\"1\""));
}

TEST(json_number, structures_compare_by_data) {
  EXPECT_TRUE(same(R"({"a":1,"b":[1.0,{"c":null}]})", R"({ "b":[1,{"\u0063":null}],"a":1.00})"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"a":1,"b":2})"));
  EXPECT_FALSE(same(R"({"a":1,"b":2})", R"({"a":1,"c":2})"));
  EXPECT_FALSE(same("[1,2]", "[2,1]"));
  EXPECT_TRUE(same(R"("\u00e9")", "\"é\""));
  EXPECT_TRUE(equal(value{}, read("null")));
}

TEST(json_number, canonical_form) {
  EXPECT_EQ(canonical(read(R"( {"b" : [ 1.0 , -0 ] , "a" : "\u0041\n" } )")), R"({"a":"A\n","b":[1,0]})");
  EXPECT_EQ(canonical(read("-12000")), "-12000");
  EXPECT_EQ(canonical(read("-1.2e4")), "-12000");
  EXPECT_EQ(canonical(read("0.125")), "1.25e-1");
  EXPECT_EQ(canonical(read("1E400")), "1e400");
  EXPECT_EQ(canonical(read("12e399")), "1.2e400");
  EXPECT_EQ(canonical(read("[[],{},\"\",true,null]")), "[[],{},\"\",true,null]");
}

TEST(json_number, canonical_form_is_its_own_canonical_form) {
  for (auto const* text : {"1", "-0", "1e39", "1e40", "1e41", "0.1", "123456789012345678901234567890123456789012345", "1e-7",
                           "1E99999999999999999999", "9.99e-99999999999999999999", R"({"z":[1,2.50,{"y":"\/"}],"a":{}})"}) {
    auto const once = canonical(read(text));
    EXPECT_EQ(canonical(read(once)), once);
    EXPECT_TRUE(same(once, text)) << once << " " << text;
  }
}

TEST(json_number, decimal_addition) {
  EXPECT_EQ(add_decimal("0", 0), "0");
  EXPECT_EQ(add_decimal("+099", 1), "100");
  EXPECT_EQ(add_decimal("-5", 5), "0");
  EXPECT_EQ(add_decimal("-5", 7), "2");
  EXPECT_EQ(add_decimal("5", -7), "-2");
  EXPECT_EQ(add_decimal("-5", -7), "-12");
  EXPECT_EQ(add_decimal("100000000000000000000", -1), "99999999999999999999");
  EXPECT_EQ(add_decimal("-99999999999999999999", -1), "-100000000000000000000");
  EXPECT_EQ(add_decimal("0", std::numeric_limits<long long>::min()), "-9223372036854775808");
}

TEST(json_number, a_huge_exponent_costs_only_its_text) {
  std::string const number = "1e" + std::string(200'000, '9');
  auto const big = read(number);
  EXPECT_FALSE(big.as_double());
  EXPECT_EQ(canonical(big).size(), number.size());
  EXPECT_FALSE(equal(big, read("1")));
}

}  // namespace
}  // namespace atone::json
