// The demo's progress on the screen: a line that is redrawn on a terminal, a line now and then elsewhere.
// Thread rules: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>

#include <atone/definition.hpp>

#include "tally.hpp"

namespace demo {

class progress_line {
 public:
  progress_line(std::ostream& out, bool redraws, std::uint64_t all) : out_(out), redraws_(redraws), all_(all) {}

  // Draws what has come of `all`; off a terminal only when another tenth is reached.
  void draw(tally const& of, std::uint64_t under_way, std::chrono::steady_clock::duration since);
  // A line of its own between drawings.
  void say(std::string const& text);
  void end();

 private:
  std::ostream& out_;
  bool redraws_;
  std::uint64_t all_;
  std::uint64_t tenth_ = 0;
  bool open_ = false;  // the cursor stands behind a drawing
};

// "7 steps, 3 compensations, pivot: none, fallback: features -> last output (24h)"
std::string describe(atone::definition const& of);

}  // namespace demo
