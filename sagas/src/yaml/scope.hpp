// What an expression may see: the input, the saga itself, and the steps before it, lexically.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/expression.hpp>

#include <atone/yaml/node.hpp>

namespace atone::yaml {

struct visible_step;
using visible_steps = std::vector<std::shared_ptr<visible_step const>>;

// A step that has ended where the expression stands.
struct visible_step {
  std::string id;
  std::uint32_t line = 0;
  bool may_be_skipped = false;  // it has a `when`: its output may be missing
  bool has_output = false;      // an action
  expr::type out;
  std::vector<std::pair<std::string, visible_steps>> branches;  // of a parallel step

  visible_step() = default;
  // What `steps.ID` is.
  expr::type type() const;
};

// Where each step id of the document stands, whether it can be read or not: for messages.
struct step_place {
  std::string id;
  std::uint32_t line = 0;
  std::string path;                // "steps[1].branches.profile[0]"
  std::vector<std::string> chain;  // ids and branch names from the root: fan, profile, tag

  step_place() = default;
};
std::vector<step_place> list_steps(spot const& document);

// The scope while steps are read in order; a branch opens a nested one.
class scope {
 public:
  explicit scope(std::vector<step_place> all) : all_(std::move(all)) {}

  void set_input(expr::type of) { input_ = std::move(of); }
  // The step with this id that would be hidden or repeated by another one, or nothing: its line.
  std::optional<std::uint32_t> taken(std::string_view id) const noexcept;
  void add(visible_step done);

  // A parallel step's branches see what stands before it; what they add is taken off again.
  void enter(std::string_view parallel_id, std::uint32_t line) { enclosing_.emplace_back(parallel_id, line); }
  void leave() { enclosing_.pop_back(); }
  std::size_t mark() const noexcept { return visible_.size(); }
  visible_steps take_since(std::size_t mark);

  // input, saga, steps.
  expr::declarations names() const;
  // input alone: before there is a saga.
  expr::declarations input_only() const;

  visible_steps const& visible() const noexcept { return visible_; }
  std::vector<std::pair<std::string, std::uint32_t>> const& enclosing() const noexcept { return enclosing_; }
  std::vector<step_place> const& all() const noexcept { return all_; }

 private:
  std::vector<step_place> all_;
  expr::type input_;
  visible_steps visible_;
  std::vector<expr::type::field> fields_;  // of `steps`, beside visible_
  std::vector<std::pair<std::string, std::uint32_t>> enclosing_;
};

}  // namespace atone::yaml
