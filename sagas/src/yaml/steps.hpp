// Steps: each verb with its keys, in the order of the text, so that an expression sees what stands before it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <atone/definition.hpp>

#include <atone/yaml/report.hpp>

#include "yaml/atomicity.hpp"
#include "yaml/expressions.hpp"
#include "yaml/policies.hpp"
#include "yaml/scope.hpp"

namespace atone::yaml {

// What reading steps needs and keeps. Lives for one load.
struct reading {
  std::vector<service> const& services;
  defaults_policy defaults;
  scope names;
  report& out;
  bool deadline_given = false;
  std::size_t steps = 0;

  reading(std::vector<service> const& who, scope what, report& to) : services(who), names(std::move(what)), out(to) {}
};

// A list of steps: the root's, or a branch's. `depth` counts lists around it.
std::vector<step> read_steps(spot const& list, reading& with, std::vector<step_note>& notes, std::size_t depth);

// The scope of the step at `at`.
expression_scope scope_of(spot const& at, std::string const& id, reading const& with);

// `call` or `sql` with all that belongs to it (actions.cpp).
action_verb read_action(spot const& at, expression_scope const& names, reading& with, step_note& note, visible_step& seen);

// `compensate` (compensations.cpp): `in_type` is what the step sends, `out_type` what it may have answered.
std::optional<compensation> read_compensation(spot const& at, expression_scope names, expr::type in_type, expr::type out_type,
                                              reading& with);

// What a fallback does to a step's output.
struct built_fallback {
  std::optional<fallback> what;
  bool keeps_type = true;  // what it serves is known to fit the step's `out` schema

  built_fallback() = default;
};
built_fallback read_fallback(spot const& at, expression_scope names, action_verb const& action, expr::type in_type, reading& with);

}  // namespace atone::yaml
