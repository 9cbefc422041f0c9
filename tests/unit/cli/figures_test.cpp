#include "cli/figures.hpp"

#include <gtest/gtest.h>

namespace atone::cli {
namespace {

using namespace std::chrono_literals;

TEST(readable, durations) {
  EXPECT_EQ(readable(duration{0}), "0 ms");
  EXPECT_EQ(readable(duration{999'999us}), "999 ms");
  EXPECT_EQ(readable(duration{1s}), "1.00 s");
  EXPECT_EQ(readable(duration{1'849ms}), "1.84 s");
  EXPECT_EQ(readable(duration{125s}), "2 min 05 s");
  EXPECT_EQ(readable(duration{3h + 7min}), "3 h 07 min");
  EXPECT_EQ(readable(duration{51h}), "2 d 03 h");
  EXPECT_EQ(readable(duration{-5s}), "0 ms");
}

TEST(readable, times) {
  auto const at = parse_timestamp("2026-11-30T13:37:00.250000Z");
  ASSERT_TRUE(at);
  EXPECT_EQ(readable(*at), "2026-11-30 13:37:00");
  EXPECT_EQ(ago(*at, *at + 12s), "12.00 s ago");
}

}  // namespace
}  // namespace atone::cli
