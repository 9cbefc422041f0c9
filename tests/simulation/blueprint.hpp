// A definition as the simulation knows it: drawn by chance, written as YAML for the loader, and kept as a tree of its own, so that what
// should happen is not taken from the code under test. Thread rules: plain values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <atone/definition.hpp>

#include "dice.hpp"

namespace atone::simulation {

enum class promise : std::uint8_t { compensable, pivot, retriable, read_only };
enum class stand_in : std::uint8_t { none, value, call, last_output };

// Where a step stands: along a path from the root, which step of the sequence and then which branch of it.
struct place {
  std::vector<std::pair<int, int>> way;  // (index in its sequence, branch of it), the last branch -1

  place() = default;
};
enum class order_of : std::uint8_t { before, after, beside };
// How the left one lies to the right one.
order_of compare(place const& left, place const& right);

struct step_plan {
  std::string path;
  atone::simulation::place where;
  promise kind = promise::compensable;
  stand_in instead = stand_in::none;
  bool local = false;
  bool has_undo = false;
  int when = -1;                          // flag of the input that decides; -1: always
  std::vector<int> flags;                 // of the steps around it, too: all must be set
  std::optional<std::uint32_t> attempts;  // of the action
  std::optional<std::uint32_t> undo_attempts;
  duration least_delay{};  // between two attempts, where it is certain
  std::string reads;       // path of the earlier step whose output it is sent
  bool reads_guarded = false;

  step_plan() = default;
};

struct blueprint {
  std::string name;
  std::string yaml;
  std::map<std::string, step_plan, std::less<>> steps;  // by path; those that act
  std::vector<step_plan> fails;                         // `fail` steps
  std::optional<std::string> pivot;
  int pivot_flag = -1;  // left out unless set
  bool sharded = false;
  bool locked = false;  // and one saga a user at a time, of whatever definition
  std::optional<duration> deadline;
  definition_ptr loaded;

  blueprint() = default;
};

inline constexpr int input_flags = 4;

// Draws one and loads it; throws when the loader refuses it: then the generator and lint disagree.
blueprint draw_blueprint(dice& from, std::string name, bool with_local, bool may_refuse_undo);
// One that is written by hand: `yaml` must load; the tree is given with it.
blueprint fixed_blueprint(std::string name, std::string yaml, std::vector<step_plan> steps);
// Six compensable steps in a row, for exhaustive runs.
blueprint six_steps();

}  // namespace atone::simulation
