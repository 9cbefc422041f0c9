// Key tables: no key twice, suggestions near enough to help.
#include "yaml/keys.hpp"

#include <array>
#include <set>

#include <gtest/gtest.h>

namespace atone::yaml {
namespace {

TEST(keys, every_key_stands_once_in_its_table) {
  for (auto const* table : {&document_keys, &defaults_keys, &service_keys, &step_keys, &retry_keys, &compensate_keys,
                            &default_compensate_keys, &fallback_keys, &fallback_value_keys, &fallback_call_keys, &parallel_keys}) {
    std::set<std::string_view> all{table->now.begin(), table->now.end()};
    all.insert(table->later.begin(), table->later.end());
    EXPECT_EQ(all.size(), table->now.size() + table->later.size()) << table->name;
    for (auto const key : table->now) EXPECT_TRUE(table->knows(key) && !table->waits(key));
    for (auto const key : table->later) EXPECT_TRUE(table->waits(key) && !table->knows(key));
  }
}

constexpr std::array known{std::string_view{"timeout"}, std::string_view{"attempt_timeout"}, std::string_view{"retry"},
                           std::string_view{"in"}};

TEST(keys, nearest_finds_slips_of_the_finger) {
  EXPECT_EQ(nearest("tiemout", known), "timeout");
  EXPECT_EQ(nearest("timeuot", known), "timeout");
  EXPECT_EQ(nearest("timeouts", known), "timeout");
  EXPECT_EQ(nearest("time_out", known), "timeout");
  EXPECT_EQ(nearest("attempt-timeout", known), "attempt_timeout");
  EXPECT_EQ(nearest("retyr", known), "retry");
  EXPECT_EQ(nearest("im", known), "in");
}

TEST(keys, nearest_does_not_guess_wildly) {
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("xyz", known), "");
  EXPECT_EQ(nearest("headers", known), "");
  EXPECT_EQ(nearest(std::string(10'000, 'x'), known), "");
  EXPECT_EQ(nearest("timeout", {}), "");
}

TEST(keys, misplaced_keys_have_a_home) {
  EXPECT_EQ(document_keys.home_of("attempts"), "retry");
  EXPECT_EQ(document_keys.home_of("limit"), "compensate");
  EXPECT_EQ(document_keys.home_of("max_age"), "fallback");
  EXPECT_EQ(document_keys.home_of("join"), "parallel");
  EXPECT_EQ(document_keys.home_of("id"), "");
}

}  // namespace
}  // namespace atone::yaml
