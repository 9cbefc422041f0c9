#include "yaml/scope.hpp"

#include <algorithm>

#include <atone/assert.hpp>

namespace atone::yaml {
namespace {

expr::type::field field_of(std::string name, expr::type of, bool required) {
  expr::type::field made;
  made.name = std::move(name);
  made.of = std::make_shared<expr::type const>(std::move(of));
  made.required = required;
  return made;
}

expr::type saga_type() {
  using expr::type;
  using expr::type_kind;
  std::vector<type::field> fields;
  for (auto const* text : {"id", "key", "name", "started_at"}) fields.push_back(field_of(text, type{type_kind::string}, true));
  fields.push_back(field_of("version", type{type_kind::integer}, true));
  return type::object_of(std::move(fields), false);
}

void list_into(std::vector<step_place>& out, spot const& steps, std::vector<std::string> const& chain);

void list_branches(std::vector<step_place>& out, spot const& step, std::vector<std::string> const& chain) {
  auto const* branches = step->find("branches");
  if (branches == nullptr || !branches->is_map()) return;
  auto const at = step.child("branches", *branches);
  for (auto const& branch : branches->entries) {
    auto inside = chain;
    inside.push_back(branch.key.text);
    list_into(out, at.child(branch.key.text, branch.value), inside);
  }
}

void list_into(std::vector<step_place>& out, spot const& steps, std::vector<std::string> const& chain) {
  if (!steps->is_sequence()) return;
  for (std::size_t i = 0; i < steps->items.size(); ++i) {
    auto const step = steps.item(i);
    auto const* id = step->find("id");
    step_place found;
    if (id != nullptr && id->is_scalar()) found.id = id->text;
    found.line = step->at.line;
    found.path = step.path;
    found.chain = chain;
    found.chain.push_back(found.id);
    auto const inside = found.chain;
    if (!found.id.empty()) out.push_back(std::move(found));
    list_branches(out, step, inside);
  }
}

}  // namespace

std::vector<step_place> list_steps(spot const& document) {
  std::vector<step_place> out;
  if (auto const* steps = document->find("steps")) list_into(out, document.child("steps", *steps), {});
  return out;
}

expr::type visible_step::type() const {
  std::vector<expr::type::field> fields;
  if (has_output) fields.push_back(field_of("out", out, !may_be_skipped));
  for (auto const& [name, steps] : branches) {
    std::vector<expr::type::field> inside;
    for (auto const& step : steps) {
      auto seen = *step;
      seen.may_be_skipped = seen.may_be_skipped || may_be_skipped;
      inside.push_back(field_of(step->id, seen.type(), true));
    }
    // Open: names that are not there are refused by check_references, which knows why.
    fields.push_back(field_of(name, expr::type::object_of(std::move(inside), true), !may_be_skipped));
  }
  return expr::type::object_of(std::move(fields), true);
}

std::optional<std::uint32_t> scope::taken(std::string_view id) const noexcept {
  for (auto const& step : visible_) {
    if (step->id == id) return step->line;
  }
  for (auto const& [name, line] : enclosing_) {
    if (name == id) return line;
  }
  return std::nullopt;
}

void scope::add(visible_step done) {
  fields_.push_back(field_of(done.id, done.type(), true));
  visible_.push_back(std::make_shared<visible_step const>(std::move(done)));
}

visible_steps scope::take_since(std::size_t mark) {
  ATONE_ASSERT(mark <= visible_.size());
  visible_steps taken(visible_.begin() + static_cast<std::ptrdiff_t>(mark), visible_.end());
  visible_.resize(mark);
  fields_.resize(mark);
  return taken;
}

expr::declarations scope::input_only() const {
  expr::declarations out;
  out.emplace("input", input_);
  return out;
}

expr::declarations scope::names() const {
  auto out = input_only();
  out.emplace("saga", saga_type());
  out.emplace("steps", expr::type::object_of(fields_, true));
  return out;
}

}  // namespace atone::yaml
