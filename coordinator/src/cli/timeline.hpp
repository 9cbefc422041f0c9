// One saga as a picture in the terminal: a row a step, a bar for every attempt, compensations beneath, drawn from its history.
// Thread rules: pure functions over plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <atone/event.hpp>
#include <atone/machine.hpp>
#include <atone/records.hpp>

#include "cli/terminal.hpp"

namespace atone::cli {

// What is known of one saga.
struct saga_story {
  saga_row row;
  std::vector<event> events;         // from 1, in order
  std::vector<step_view> steps;      // as the daemon sees them now; may be empty
  std::vector<step_path> all_steps;  // of its definition, in order of the text; empty: only reached ones are shown
  std::string lock;                  // the value of its lock, as JSON; empty: it has none
  std::string lock_holder;           // the id of who has that lock now; empty: not known
  timestamp now;                     // for a saga under way: where its open bars end

  saga_story() = default;
};

// One stretch of a row.
struct timeline_bar {
  duration begin{};  // from the saga's start
  duration end{};
  bool waiting = false;  // between two attempts

  timeline_bar() = default;
  timeline_bar(duration from, duration to, bool waits) : begin(from), end(to), waiting(waits) {}
  friend bool operator==(timeline_bar const&, timeline_bar const&) = default;
};

struct timeline_row {
  step_path step;
  operation op = operation::act;
  std::vector<timeline_bar> bars;
  std::uint32_t attempts = 0;
  std::string outcome;
  style tone = style::plain;

  timeline_row() = default;
  // The step's path; "~" before it where it is undone.
  std::string label() const;
};

// Rows in order: the steps forward as the text has them, then what was undone in the order it happened.
std::vector<timeline_row> timeline_rows(saga_story const& of);

// From start to the end, or to now.
duration timeline_span(saga_story const& of);

// Head line, cause, axis and rows.
void print_timeline(saga_story const& of, terminal const& to);

}  // namespace atone::cli
