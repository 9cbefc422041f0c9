// Not by chance: every single fault of a six-step saga, each with a crash at every point of the run that it makes, and every two crashes.
#include <array>
#include <iostream>

#include <gtest/gtest.h>

#include "run.hpp"
#include "sanitized.hpp"

namespace atone::simulation {
namespace {

constexpr std::array crashes{fault::crash_before_commit, fault::crash_after_commit, fault::crash_before_send, fault::crash_after_send};

// Under the sanitizers every so many of the second faults only.
constexpr std::uint64_t stride = sanitized ? 23 : 1;

bool is_crash(fault kind) {
  return kind == fault::crash || kind == fault::crash_before_commit || kind == fault::crash_after_commit ||
         kind == fault::crash_before_send || kind == fault::crash_after_send;
}

// One saga of six steps that one coordinator drives, with exactly these faults.
class six {
 public:
  six() { definitions_.push_back(six_steps()); }

  run_report with(std::set<happened> faults) {
    world_settings settings;
    settings.sagas = 1;
    settings.arrivals = duration{0};
    settings.rage = std::chrono::minutes{5};
    settings.script = std::move(faults);
    auto made = run(settings, definitions_);
    ++runs_;
    happenings_ += made.happenings;
    if (!made.violations.empty() && ++failed_ <= 5) {
      std::string list;
      for (auto const& one : *settings.script) list += ' ' + std::string{name(one.kind)} + ' ' + std::to_string(one.at);
      ADD_FAILURE() << made.violations.front().checker << ": " << made.violations.front().text << "; faults:" << list;
    }
    return made;
  }
  std::uint64_t happenings() const noexcept { return happenings_; }
  int runs() const noexcept { return runs_; }

 private:
  std::vector<blueprint> definitions_;
  int runs_ = 0;
  std::uint64_t happenings_ = 0;
  int failed_ = 0;
};

// Every fault that could have happened in this run, once.
std::vector<happened> possible(run_report const& in) {
  std::vector<happened> all;
  for (std::size_t kind = 0; kind < fault_kinds; ++kind) {
    for (std::uint64_t at = 0; at < in.asked[kind]; ++at) all.emplace_back(static_cast<fault>(kind), at);
  }
  return all;
}

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
