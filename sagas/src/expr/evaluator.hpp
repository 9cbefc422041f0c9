// Walks the tree once, with bounded steps. Depth is bounded by the tree's height, never by the data.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "work.hpp"

namespace atone::expr {

// The boolean an evaluation gave; anything else is a fault at that place.
result<bool, fault> as_truth(expression const& of, outcome value);

class evaluator {
 public:
  evaluator(bindings const& values, bounds const& limits) : values_(values), budget_(limits) {}

  outcome run(expression const& of);

 private:
  outcome name(expression const& of);
  outcome select(expression const& of);
  outcome has(expression const& of);
  outcome index(expression const& of);
  outcome element(expression const& of, datum const& list, datum const& key);
  outcome member(expression const& of, datum const& map, datum const& key);
  outcome binary(expression const& of);
  outcome logical_not(expression const& of);
  outcome chain(expression const& of);
  outcome conditional(expression const& of);
  outcome call(expression const& of);
  outcome list(expression const& of);
  outcome map(expression const& of);

  // macros.cpp
  outcome macro(expression const& of);
  outcome quantified(expression const& of, std::vector<datum> const& range);
  outcome exactly_one(expression const& of, std::vector<datum> const& range);
  outcome selected(expression const& of, std::vector<datum> const& range);
  outcome mapped(expression const& of, std::vector<datum> const& range);
  outcome with_variable(expression const& of, datum const& value, expression const& body);

  result<bool, fault> truth(expression const& of) { return as_truth(of, run(of)); }
  datum hinted(expression const& of, datum value) const;

  bindings const& values_;
  work budget_;
  std::vector<std::pair<std::string_view, datum>> locals_;
};

}  // namespace atone::expr
