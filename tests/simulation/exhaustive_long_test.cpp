// The long form of exhaustive_test.cpp, for ./check drill: every three crashes.
#include <iostream>

#include <gtest/gtest.h>

#include "exhaustive.hpp"

namespace atone::simulation {
namespace {

// The last step is refused, so that the way back is crossed too.
TEST(exhaustive_long, every_three_crashes) {
  six one;
  with_crashes(one, {happened{fault::refuse, 5}}, 3, 1);
  std::cout << one.runs() << " runs, " << one.happenings() << " happenings\n";
  EXPECT_GT(one.runs(), 100'000);
}

}  // namespace
}  // namespace atone::simulation
