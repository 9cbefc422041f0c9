#include "histogram.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

using std::chrono::nanoseconds;

TEST(Histogram, HasNoQuantileOfNothing) {
  EXPECT_EQ(histogram{}.quantile(0.5), nanoseconds{0});
}

TEST(Histogram, IsExactForSmallValues) {
  histogram of;
  for (int value = 1; value <= 100; ++value) of.add(nanoseconds{value});
  EXPECT_EQ(of.count(), 100U);
  EXPECT_EQ(of.quantile(0), nanoseconds{1});
  EXPECT_EQ(of.quantile(0.5), nanoseconds{50});
  EXPECT_EQ(of.quantile(1), nanoseconds{100});
}

TEST(Histogram, IsAtMostOneSixtyFourthTooLarge) {
  for (std::int64_t value = 1; value < (std::int64_t{1} << 52); value = value * 3 + 1) {
    histogram of;
    of.add(nanoseconds{value});
    auto const told = of.quantile(0.5).count();
    EXPECT_GE(told, value);
    EXPECT_LE(told - value, value / 64) << value;
  }
}

TEST(Histogram, TellsTheTail) {
  histogram of;
  for (int value = 0; value < 998; ++value) of.add(std::chrono::milliseconds{1});
  of.add(std::chrono::milliseconds{50});
  of.add(std::chrono::seconds{2});
  EXPECT_NEAR(milliseconds(of.quantile(0.99)), 1, 0.02);
  EXPECT_NEAR(milliseconds(of.quantile(0.999)), 50, 1);
  EXPECT_NEAR(milliseconds(of.quantile(0.9999)), 2000, 32);
}

TEST(Histogram, TakesTheLargestDuration) {
  histogram of;
  of.add(nanoseconds::max());
  of.add(nanoseconds{-5});
  EXPECT_EQ(of.quantile(1), nanoseconds::max());
  EXPECT_EQ(of.quantile(0.5), nanoseconds{0});
}

}  // namespace
}  // namespace bench
