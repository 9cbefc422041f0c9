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

TEST(exhaustive, every_single_fault_with_every_crash) {
  six one;
  for (auto const& first : possible(one.with({}))) {
    if (is_crash(first.kind)) continue;
    auto const after = one.with({first});
    for (auto const kind : crashes) {
      for (std::uint64_t at = 0; at < after.asked[static_cast<std::size_t>(kind)]; at += stride) one.with({first, happened{kind, at}});
    }
  }
  std::cout << one.runs() << " runs, " << one.happenings() << " happenings\n";
  EXPECT_GT(one.runs(), sanitized ? 500 : 2500);
}

// The last step is refused, so that the way back is crossed too.
TEST(exhaustive, every_two_crashes) {
  six one;
  happened const refused{fault::refuse, 5};
  auto const plain = one.with({refused});
  EXPECT_EQ(plain.ends.at(saga_status::compensated), 1U);
  for (auto const first : crashes) {
    for (std::uint64_t at = 0; at < plain.asked[static_cast<std::size_t>(first)]; ++at) {
      auto const after = one.with({refused, happened{first, at}});
      for (auto const second : crashes) {
        for (std::uint64_t then = 0; then < after.asked[static_cast<std::size_t>(second)]; then += stride) {
          one.with({refused, happened{first, at}, happened{second, then}});
        }
      }
    }
  }
  std::cout << one.runs() << " runs, " << one.happenings() << " happenings\n";
  EXPECT_GT(one.runs(), sanitized ? 100 : 2000);
}

}  // namespace
}  // namespace atone::simulation
