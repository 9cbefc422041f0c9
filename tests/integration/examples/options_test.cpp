// The flags of the services.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kit/options.hpp"

namespace kit {
namespace {

using testing::HasSubstr;

atone::result<service_options> parse(std::vector<std::string> const& arguments) {
  return parse_options(arguments, {extra_flag{"--limit", "15000", "the limit"}}, "sqlite:test.db");
}

TEST(service_flags, defaults) {
  auto const options = parse({});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->port, 0);
  EXPECT_EQ(options->db, "sqlite:test.db");
  EXPECT_TRUE(options->faults.empty());
  EXPECT_EQ(options->extra("--limit"), "15000");
}

TEST(service_flags, all_together) {
  auto const options = parse({"--port", "7001", "--seed", "9", "--db", "postgresql:///x", "--faults", "fail=0.5", "--limit", "7"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->port, 7001);
  EXPECT_EQ(options->db, "postgresql:///x");
  EXPECT_EQ(options->faults.seed, 9U);
  EXPECT_EQ(options->faults.entries[1].rate, 500'000U);
  EXPECT_EQ(options->extra("--limit"), "7");
}

TEST(service_flags, help_lists_everything) {
  auto const options = parse({"--help"});
  ASSERT_TRUE(options.has_value());
  EXPECT_TRUE(options->help);
  auto const text = help_text("test", *options);
  for (auto const* flag : {"--port", "--db", "--faults", "--seed", "--limit"}) EXPECT_THAT(text, HasSubstr(flag));
}

class service_flags_refused : public testing::TestWithParam<std::pair<std::vector<std::string>, std::string>> {};

TEST_P(service_flags_refused, with_the_flag_and_what_was_expected) {
  auto const options = parse(GetParam().first);
  ASSERT_FALSE(options.has_value());
  EXPECT_EQ(options.error().code, atone::errc::invalid_argument);
  EXPECT_THAT(options.error().message, HasSubstr(GetParam().second));
}

using refused = std::pair<std::vector<std::string>, std::string>;
INSTANTIATE_TEST_SUITE_P(all, service_flags_refused,
                         testing::Values(refused{{"--prot", "1"}, "unknown flag --prot"}, refused{{"--port"}, "--port: expected a value"},
                                         refused{{"--port", "70000"}, "--port: found '70000'"}, refused{{"--port", "-1"}, "--port"},
                                         refused{{"--port", "80x"}, "--port"}, refused{{"--seed", "pi"}, "--seed: found 'pi'"},
                                         refused{{"--faults", "fail=7"}, "fail=7"}));

TEST(service_numbers, whole_and_bounded) {
  EXPECT_EQ(parse_number("0", 10), 0U);
  EXPECT_EQ(parse_number("10", 10), 10U);
  EXPECT_EQ(parse_number("11", 10), std::nullopt);
  EXPECT_EQ(parse_number("", 10), std::nullopt);
  EXPECT_EQ(parse_number("+1", 10), std::nullopt);
  EXPECT_EQ(parse_number(" 1", 10), std::nullopt);
  EXPECT_EQ(parse_number("18446744073709551616", ~0ULL), std::nullopt);
}

}  // namespace
}  // namespace kit
