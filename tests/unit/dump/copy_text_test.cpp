// The text form of COPY: a table of what the server's manual says, and drawn rows there and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <random>

#include "dump/copy_text.hpp"

namespace atone::dump {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

// With as many fields as there are.
result<copy_fields> split(std::string_view line) {
  return split_copy_line(line, static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1);
}

std::optional<std::string> one_field(std::string const& line) {
  auto const fields = split(line);
  EXPECT_TRUE(fields.has_value()) << line;
  return fields && fields->size() == 1 ? fields->front() : std::nullopt;
}

TEST(copy_text, fields_stand_between_tabs) {
  EXPECT_THAT(*split("a\tb\t\tc"),
              ElementsAre(Optional<std::string>("a"), Optional<std::string>("b"), Optional<std::string>(""), Optional<std::string>("c")));
  EXPECT_THAT(*split(""), ElementsAre(Optional<std::string>("")));
}

TEST(copy_text, null_is_a_field_of_its_own_and_not_a_text) {
  EXPECT_EQ(one_field("\\N"), std::nullopt);
  EXPECT_EQ(one_field("\\\\N"), "\\N");
  EXPECT_EQ(one_field("x\\N"), "xN");
}

TEST(copy_text, escapes_are_those_of_the_manual) {
  EXPECT_EQ(one_field("\\b\\f\\n\\r\\t\\v"), "\b\f\n\r\t\v");
  EXPECT_EQ(one_field("\\101\\1018\\7"), "AA8\a");
  EXPECT_EQ(one_field("\\x41\\x4\\x412"),
            "A\x04"
            "A2");
  EXPECT_EQ(one_field("\\xg"), "xg");
  EXPECT_EQ(one_field("\\q\\\\\\."), "q\\.");
}

TEST(copy_text, what_no_server_writes_is_refused) {
  EXPECT_THAT(split("a\\").error().message, HasSubstr("backslash at a field's end"));
  EXPECT_THAT(split("a\\\tb").error().message, HasSubstr("backslash at a field's end"));
  EXPECT_THAT(split("a\r").error().message, HasSubstr("line ends"));
  EXPECT_THAT(split("a\xff").error().message, HasSubstr("UTF-8"));
  EXPECT_THAT(split("a\\xff").error().message, HasSubstr("UTF-8"));
  EXPECT_THAT(split("a\\377\tb").error().message, HasSubstr("UTF-8"));
  EXPECT_THAT(split("a\\0").error().message, HasSubstr("zero byte"));
  EXPECT_THAT(split(std::string_view{"a\0", 2}).error().message, HasSubstr("zero byte"));
}

std::int64_t peak_kibibytes() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

TEST(copy_text, fields_are_counted_before_any_is_read) {
  EXPECT_THAT(split_copy_line("a\tb\tc", 2).error().message, HasSubstr("found 3 fields; expected 2"));
  EXPECT_THAT(split_copy_line("a", 2).error().message, HasSubstr("found 1 fields; expected 2"));
  std::string const tabs(std::size_t{16} << 20U, '\t');
  auto const before = peak_kibibytes();
  EXPECT_FALSE(split_copy_line(tabs, 17).has_value());
  EXPECT_LT(peak_kibibytes() - before, 64 * 1024) << "a damaged line of 16 MiB";
}

// Of characters among which those with a meaning are frequent.
copy_fields drawn_row(std::mt19937_64& dice) {
  constexpr std::string_view characters = "\\\\\\\t\n\r\b\f\vNx.01789abtnrfv \"'\x01\x7f";
  copy_fields row(1 + dice() % 6);
  for (auto& field : row) {
    if (dice() % 8 == 0) continue;
    field.emplace();
    for (auto length = dice() % 12; length > 0; --length) *field += characters[dice() % characters.size()];
    if (dice() % 4 == 0) *field += "\u00e9\u20ac";
  }
  return row;
}

TEST(copy_text, drawn_rows_come_back) {
  std::mt19937_64 dice{2026};
  for (int round = 0; round < 20'000; ++round) {
    auto const row = drawn_row(dice);
    auto const line = copy_line(row);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    auto const read = split(line);
    ASSERT_TRUE(read.has_value()) << "round " << round << ": " << line;
    ASSERT_EQ(*read, row) << "round " << round << ": " << line;
  }
}

// Whatever a line holds, it is read as some row or refused; reading what was read again gives the same.
TEST(copy_text, drawn_lines_are_read_or_refused) {
  constexpr std::string_view characters = "\\\\\\\t\r01789xXfFN.ab\xc3\xa9";
  std::mt19937_64 dice{2027};
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string line;
    for (auto length = dice() % 16; length > 0; --length) line += characters[dice() % characters.size()];
    auto const read = split(line);
    refused += read ? 0 : 1;
    if (!read) continue;
    auto const again = split(copy_line(*read));
    ASSERT_TRUE(again.has_value()) << line;
    ASSERT_EQ(*again, *read) << line;
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_LT(refused, 19'000U);
}

TEST(copy_values, bytes_have_two_forms) {
  EXPECT_EQ(parse_bytea("\\x00ff4A"), (std::string{"\x00\xff\x4a", 3}));
  EXPECT_EQ(parse_bytea("\\x"), "");
  EXPECT_EQ(parse_bytea("\\xabc"), std::nullopt);
  EXPECT_EQ(parse_bytea("\\xzz"), std::nullopt);
  EXPECT_EQ(parse_bytea("a\\\\b\\001"), "a\\b\x01");
  EXPECT_EQ(parse_bytea("a\\1"), std::nullopt);
}

TEST(copy_values, times_are_read_in_any_zone) {
  timestamp const noon{std::chrono::sys_days{std::chrono::year{2026} / 2 / 28} + std::chrono::hours{12}};
  EXPECT_EQ(parse_timestamptz("2026-02-28 12:00:00+00"), noon);
  EXPECT_EQ(parse_timestamptz("2026-02-28 17:30:00+05:30"), noon);
  EXPECT_EQ(parse_timestamptz("2026-02-28 03:59:45.5-08:00:15"), noon + std::chrono::milliseconds{500});
  EXPECT_EQ(parse_timestamptz("2026-02-28 12:00:00.000001+00"), noon + duration{1});
  for (auto const* text : {"", "infinity", "2026-02-30 12:00:00+00", "2026-02-28 12:00:00", "2026-02-28T12:00:00+00",
                           "2026-02-28 12:00:00.+00", "2026-02-28 12:00:00+00 BC", "2026-02-28 12:61:00+00", "2026-02-28 12:00:00+0"}) {
    EXPECT_EQ(parse_timestamptz(text), std::nullopt) << text;
  }
}

TEST(copy_values, ids_are_uuids) {
  auto const read = parse_uuid("01930000-0000-0000-0000-00000000002a");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->value()[1], 0x93);
  EXPECT_EQ(read->value()[15], 0x2a);
  for (auto const* text :
       {"", "0193000000000000000000000000002a", "01930000-0000-0000-0000-00000000002g", "0193000-00000-0000-0000-00000000002a"}) {
    EXPECT_EQ(parse_uuid(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace atone::dump
