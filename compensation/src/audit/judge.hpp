// The rules of the audit for one ended saga.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "facts.hpp"

namespace atone::audit {

// How often one operation of one step took effect at one service.
class effect_table {
 public:
  using key = std::tuple<step_path, operation, std::string>;

  // Rows for the same operation add up: a participant may list its barrier and its tables apart.
  void add(step_path const& step, operation op, std::string const& service, std::uint64_t applied) {
    counts_[key{step, op, service}] += applied;
  }
  std::uint64_t applied(step_path const& step, operation op, std::string const& service) const {
    auto const found = counts_.find(key{step, op, service});
    return found == counts_.end() ? 0 : found->second;
  }
  std::map<key, std::uint64_t> const& all() const noexcept { return counts_; }

 private:
  std::map<key, std::uint64_t> counts_;
};

struct judgement {
  saga_facts const& saga;
  effect_table const& effects;
  std::set<std::string, std::less<>> const& sources;
};

// Everything that is wrong with this saga or keeps it from being checked; empty: proven. Repeats are not looked for here.
std::vector<finding> judge_ended(judgement const& of);

}  // namespace atone::audit
