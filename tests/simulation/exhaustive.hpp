// One saga of six steps, and every fault that could happen to it.
#pragma once

#include <array>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "run.hpp"

namespace atone::simulation {

inline constexpr std::array crashes{fault::crash_before_commit, fault::crash_after_commit, fault::crash_before_send,
                                    fault::crash_after_send};

inline bool is_crash(fault kind) {
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
inline std::vector<happened> possible(run_report const& in) {
  std::vector<happened> all;
  for (std::size_t kind = 0; kind < fault_kinds; ++kind) {
    for (std::uint64_t at = 0; at < in.asked[kind]; ++at) all.emplace_back(static_cast<fault>(kind), at);
  }
  return all;
}

// Every further crash, wherever the run that has these faults could have one (every `stride`-th of them); so many one after the other.
inline void with_crashes(six& one, std::set<happened> const& faults, int more, std::uint64_t stride) {
  auto const made = one.with(faults);
  if (more == 0) return;
  for (auto const kind : crashes) {
    for (std::uint64_t at = 0; at < made.asked[static_cast<std::size_t>(kind)]; at += stride) {
      auto next = faults;
      if (next.emplace(kind, at).second) with_crashes(one, next, more - 1, stride);
    }
  }
}

}  // namespace atone::simulation
