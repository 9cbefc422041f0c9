// Many runs, and what came of them together. Thread rules: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "run.hpp"

namespace atone::simulation {

class campaign {
 public:
  explicit campaign(std::ostream& to) : out_(to) {}

  // Runs one seed; a failing one is told at once, with how to repeat it. True: nothing is wrong.
  bool run_one(std::uint64_t seed);
  void trace(bool wanted) noexcept { trace_ = wanted; }
  void shrink(bool wanted) noexcept { shrink_ = wanted; }

  std::uint64_t sagas() const noexcept { return sagas_; }
  std::uint64_t failed() const noexcept { return failed_; }
  std::uint64_t crashes() const noexcept { return crashes_; }
  // What ran, in one paragraph.
  void report() const;

 private:
  void tell(run_report const& of);

  std::ostream& out_;
  bool trace_ = false;
  bool shrink_ = false;
  std::uint64_t runs_ = 0, sagas_ = 0, failed_ = 0, crashes_ = 0, happenings_ = 0, checks_ = 0, parkings_ = 0, faults_ = 0;
  std::map<saga_status, std::uint64_t> ends_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace atone::simulation
