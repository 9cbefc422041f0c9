// Not by chance: every single fault of a six-step saga, each with a crash at every point of the run that it makes, and every two crashes.
#include <iostream>

#include <gtest/gtest.h>

#include "exhaustive.hpp"
#include "sanitized.hpp"

namespace atone::simulation {
namespace {

// Under the sanitizers every so many of the second faults only.
constexpr std::uint64_t stride = sanitized ? 23 : 1;

TEST(exhaustive, every_single_fault) {
  six one;
  for (auto const& fault_of : possible(one.with({}))) one.with({fault_of});
  std::cout << one.runs() << " runs, " << one.happenings() << " happenings\n";
  EXPECT_GT(one.runs(), 140);
}

// Two crashes of each run that one fault makes, and of the one without any.
TEST(exhaustive, every_single_fault_with_every_two_crashes) {
  six one;
  auto const plain = one.with({});
  with_crashes(one, {}, 2, stride);
  for (auto const& first : possible(plain)) {
    if (!is_crash(first.kind)) with_crashes(one, {first}, 2, stride);
  }
  std::cout << one.runs() << " runs, " << one.happenings() << " happenings\n";
  EXPECT_GT(one.runs(), sanitized ? 500 : 80'000);
}

// The last step is refused, so that the way back is crossed too.
TEST(exhaustive, every_two_crashes_of_a_saga_that_is_undone) {
  six one;
  EXPECT_EQ(one.with({happened{fault::refuse, 5}}).ends.at(saga_status::compensated), 1U);
  with_crashes(one, {happened{fault::refuse, 5}}, 2, sanitized ? 5 : 1);  // few enough
  std::cout << one.runs() << " runs, " << one.happenings() << " happenings\n";
  EXPECT_GT(one.runs(), sanitized ? 60 : 2000);
}

}  // namespace
}  // namespace atone::simulation
