#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include <atone/time.hpp>

namespace atone {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::string refusal(std::string_view text) {
  auto const read = parse_duration(text);
  return read ? "accepted as " + format_duration(*read) : read.error().message;
}

TEST(duration, units) {
  EXPECT_EQ(*parse_duration("250us"), 250us);
  EXPECT_EQ(*parse_duration("250ms"), 250ms);
  EXPECT_EQ(*parse_duration("15m"), 15min);
  EXPECT_EQ(*parse_duration("24h"), 24h);
  EXPECT_EQ(*parse_duration("7d"), 168h);
  EXPECT_EQ(*parse_duration("0s"), 0s);
  EXPECT_EQ(*parse_duration("010s"), 10s);
}

TEST(duration, refusals_say_what_was_expected) {
  EXPECT_THAT(refusal(""), HasSubstr("expected a whole number and a unit (us, ms, s, m, h, d)"));
  EXPECT_THAT(refusal("0"), HasSubstr("the unit is missing"));
  EXPECT_THAT(refusal("15"), HasSubstr("the unit is missing"));
  EXPECT_THAT(refusal("-5s"), HasSubstr("expected a whole number"));
  EXPECT_THAT(refusal("+5s"), HasSubstr("expected a whole number"));
  EXPECT_THAT(refusal(" 5s"), HasSubstr("expected a whole number"));
  EXPECT_THAT(refusal("s"), HasSubstr("expected a whole number"));
  EXPECT_THAT(refusal("1e3"), HasSubstr("unknown unit 'e3'"));
  EXPECT_THAT(refusal("1.5s"), HasSubstr("unknown unit '.5s'"));
  EXPECT_THAT(refusal("5 s"), HasSubstr("unknown unit ' s'"));
  EXPECT_THAT(refusal("5S"), HasSubstr("unknown unit 'S'"));
  EXPECT_THAT(refusal("5min"), HasSubstr("unknown unit 'min'"));
  EXPECT_THAT(refusal("1h30m"), HasSubstr("unknown unit 'h30m'"));
  EXPECT_THAT(refusal("99999999999999999999s"), HasSubstr("the number is too large"));
  EXPECT_THAT(refusal("9223372036854775807d"), HasSubstr("the longest is ten years"));
  EXPECT_EQ(parse_duration("x").error().code, errc::invalid_argument);
}

TEST(duration, zero_is_written_0s_only) {
  for (auto const* text : {"0us", "0ms", "0m", "0h", "0d"}) EXPECT_THAT(refusal(text), HasSubstr("zero is written 0s")) << text;
}

TEST(duration, ten_years_is_the_longest) {
  EXPECT_EQ(*parse_duration("3653d"), duration_max);
  EXPECT_THAT(refusal("3654d"), HasSubstr("the longest is ten years"));
  EXPECT_EQ(*parse_duration("87672h"), duration_max);
  EXPECT_THAT(refusal("87673h"), HasSubstr("the longest is ten years"));
}

TEST(duration, format_takes_the_coarsest_exact_unit) {
  EXPECT_EQ(format_duration(0us), "0s");
  EXPECT_EQ(format_duration(1500ms), "1500ms");
  EXPECT_EQ(format_duration(15min), "15m");
  EXPECT_EQ(format_duration(90s), "90s");
  EXPECT_EQ(format_duration(48h), "2d");
  EXPECT_EQ(format_duration(1us), "1us");
  EXPECT_EQ(format_duration(-5s), "-5s");
}

TEST(duration, format_reads_back) {
  std::mt19937_64 random{4};
  for (int round = 0; round < 2000; ++round) {
    duration const value{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(duration_max.count() + 1))};
    auto const read = parse_duration(format_duration(value));
    ASSERT_TRUE(read) << format_duration(value);
    ASSERT_EQ(*read, value);
  }
}

timestamp at(std::int64_t microseconds) {
  return timestamp{duration{microseconds}};
}

TEST(timestamp, golden_texts) {
  EXPECT_EQ(format_timestamp(at(0)), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_timestamp(at(1'796'045'820'000'000)), "2026-11-30T13:37:00.000000Z");
  EXPECT_EQ(format_timestamp(at(-1)), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(format_timestamp(at(951'782'400'000'001)), "2000-02-29T00:00:00.000001Z");
  EXPECT_EQ(format_timestamp(at(253'402'300'799'999'999)), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(format_timestamp(at(253'402'300'800'000'000)), "10000-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_timestamp(timestamp{std::chrono::sys_days{std::chrono::year{-1} / 1 / 2}}), "-001-01-02T00:00:00.000000Z");
}

TEST(timestamp, reads_what_it_writes) {
  std::mt19937_64 random{5};
  for (int round = 0; round < 2000; ++round) {
    auto const value = at(static_cast<std::int64_t>(random() % 4'102'444'800'000'000U));
    ASSERT_EQ(parse_timestamp(format_timestamp(value)), value) << format_timestamp(value);
  }
}

TEST(timestamp, accepts_shorter_fractions) {
  EXPECT_EQ(parse_timestamp("2026-11-30T13:37:00Z"), at(1'796'045'820'000'000));
  EXPECT_EQ(parse_timestamp("2026-11-30T13:37:00.5Z"), at(1'796'045'820'500'000));
  EXPECT_EQ(parse_timestamp("2026-11-30T13:37:00.123456Z"), at(1'796'045'820'123'456));
}

TEST(timestamp, bad_texts) {
  for (auto const* text : {"",
                           "2026-11-30",
                           "2026-11-30T13:37:00",
                           "2026-11-30 13:37:00Z",
                           "2026-13-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-11-30T24:00:00Z",
                           "2026-11-30T23:60:00Z",
                           "2026-11-30T23:59:60Z",
                           "2026-11-30T13:37:00+01:00",
                           "2026-11-30T13:37:00Zx",
                           " 2026-11-30T13:37:00Z",
                           "2026-1-30T13:37:00Z",
                           "2026-11-30T13:37:0Z",
                           "2026-11-30T-1:37:00Z",
                           "2026-11-30T+1:37:00Z",
                           "2026-11-30T 1:37:00Z",
                           "-026-11-30T13:37:00Z",
                           "2026-11-30T13:37:00.Z",
                           "2026-11-30T13:37:00.1234567Z",
                           "2026-11-30t13:37:00z"}) {
    EXPECT_FALSE(parse_timestamp(text)) << text;
  }
}

}  // namespace
}  // namespace atone
