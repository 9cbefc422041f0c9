// The long form of exhaustive_test.cpp, for ./check drill: every single fault with every two crashes, and every three crashes.
#include <iostream>

#include <gtest/gtest.h>

#include "exhaustive.hpp"

namespace atone::simulation {
namespace {

// Every further crash, wherever the run that has these faults could have one; so many of them one after the other.
void with_crashes(six& one, std::set<happened> const& faults, int more) {
  auto const made = one.with(faults);
  if (more == 0) return;
  for (auto const kind : crashes) {
    for (std::uint64_t at = 0; at < made.asked[static_cast<std::size_t>(kind)]; ++at) {
      auto next = faults;
      if (next.emplace(kind, at).second) with_crashes(one, next, more - 1);
    }
  }
}

TEST(exhaustive_long, every_single_fault_with_every_two_crashes) {
  six one;
  for (auto const& first : possible(one.with({}))) {
    if (!is_crash(first.kind)) with_crashes(one, {first}, 2);
  }
  std::cout << one.runs() << " runs, " << one.happenings() << " happenings\n";
  EXPECT_GT(one.runs(), 100'000);
}

// The last step is refused, so that the way back is crossed too.
TEST(exhaustive_long, every_three_crashes) {
  six one;
  with_crashes(one, {happened{fault::refuse, 5}}, 3);
  std::cout << one.runs() << " runs, " << one.happenings() << " happenings\n";
  EXPECT_GT(one.runs(), 50'000);
}

}  // namespace
}  // namespace atone::simulation
