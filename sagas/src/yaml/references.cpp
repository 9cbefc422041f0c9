// Which references an expression may make: DESIGN of scoping in docs/definitions.md.
#include <algorithm>
#include <span>

#include "yaml/expressions.hpp"
#include "yaml/keys.hpp"

namespace atone::yaml {
namespace {

using names_of = std::span<std::string const>;

struct finding {
  std::string message;  // empty: nothing is wrong
  std::string hint;

  finding() = default;
  finding(std::string what, std::string how) : message(std::move(what)), hint(std::move(how)) {}
};

bool is_word(std::string_view text) {
  return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_') &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// The chain as one writes it: steps['a-b'].out
std::string chain_text(names_of path) {
  std::string out;
  for (auto const& name : path) {
    if (out.empty()) {
      out = name;
    } else if (is_word(name)) {
      out += '.' + name;
    } else {
      out += "['" + name + "']";
    }
  }
  return out;
}

std::string suggestion(std::string_view wrong, std::vector<std::string_view> const& known) {
  auto const near = nearest(wrong, known);
  return near.empty() ? std::string{} : "; did you mean `" + std::string{near} + "`?";
}

// The list that holds the step at `path`: "steps[1].branches.a[0]" -> "steps[1].branches.a".
std::string_view list_holding(std::string_view path) {
  return path.substr(0, path.rfind('['));
}

bool is_inside(std::string_view path, std::string_view list) {
  return path.size() > list.size() && path.substr(0, list.size()) == list && path[list.size()] == '[';
}

// Whether two steps stand in different branches of one parallel step.
bool in_sibling_branches(std::string_view left, std::string_view right) {
  constexpr std::string_view key = ".branches.";
  for (auto at = left.find(key); at != std::string_view::npos; at = left.find(key, at + 1)) {
    auto const inside = at + key.size();
    if (right.substr(0, inside) != left.substr(0, inside)) return false;
    auto const branch = [&](std::string_view path) { return path.substr(inside, path.find('[', inside) - inside); };
    if (branch(left) != branch(right)) return true;
  }
  return false;
}

// Why a step that exists can't be read from where the expression stands.
finding explain_hidden(step_place const& place, expression_scope const& names) {
  auto const where = "step `" + place.id + "` (line " + std::to_string(place.line) + ")";
  if (place.path == names.step_path) return {"a step can't use its own output here", "in `compensate`, use in or out"};
  if (is_inside(names.step_path, list_holding(place.path))) {
    return {where + " comes after this one", "an expression sees the steps before its own"};
  }
  if (in_sibling_branches(place.path, names.step_path)) {
    return {where + " runs in another branch, side by side with this one", "read it after the parallel step, or put it before"};
  }
  std::vector<std::string> path{"steps"};
  path.insert(path.end(), place.chain.begin(), place.chain.end());
  return {where + " stands inside a parallel step", "once that has ended, write " + chain_text(path) + ".out"};
}

finding unknown_step(std::string const& id, expression_scope const& names) {
  for (auto const& [open, line] : names.steps->enclosing()) {
    if (open == id) return {"step `" + id + "` (line " + std::to_string(line) + ") has not ended here", "its own branches run inside it"};
  }
  for (auto const& place : names.steps->all()) {
    if (place.id == id) return explain_hidden(place, names);
  }
  std::vector<std::string_view> known;
  for (auto const& step : names.steps->visible()) known.push_back(step->id);
  return {"there is no step `" + id + "`" + suggestion(id, known), known.empty() ? "no step stands before this one" : ""};
}

// How much of a chain must be there: all of it, or all but the last link where has() asks for that one.
std::size_t links_needed(expr::reference const& of) {
  if (of.guarded) return 0;
  return of.only_tested ? of.path.size() - 1 : of.path.size();
}

// What is wrong with a chain when its link number `link` may be missing.
finding may_be_missing(expr::reference const& of, std::size_t link, std::string const& why, std::string const& other_way) {
  if (link >= links_needed(of)) return {};
  auto const chain = chain_text(names_of{of.path}.first(link + 1));
  return {"`" + chain + "` may be missing: " + why, "guard it with has(" + chain + ")" + (other_way.empty() ? "" : ", or " + other_way)};
}

// The fields of a typed value, from path[from] on.
finding check_fields(expr::reference const& of, std::size_t from, expr::type at, std::string const& whose) {
  for (std::size_t link = from; link < links_needed(of); ++link) {
    if (at.kind() != expr::type_kind::object || at.fields().empty()) return {};
    auto const* known = at.find(of.path[link]);
    if (known == nullptr) {
      std::vector<std::string_view> fields;
      for (auto const& field : at.fields()) fields.push_back(field.name);
      auto const why = whose + " does not name `" + of.path[link] + "`" + suggestion(of.path[link], fields);
      return may_be_missing(of, link, why, "add it to the schema");
    }
    if (!known->required) return may_be_missing(of, link, whose + " does not require it", "list it under `required`");
    at = *known->of;
  }
  return {};
}

finding check_step(expr::reference const& of, std::size_t at, visible_step const& step);

std::vector<std::string_view> names_in(visible_step const& fan) {
  std::vector<std::string_view> names;
  for (auto const& [name, steps] : fan.branches) names.push_back(name);
  return names;
}

finding check_branch(expr::reference const& of, std::size_t at, visible_step const& fan) {
  if (at == of.path.size()) return {"`" + chain_text(of.path) + "` is a parallel step", "name a branch, a step in it and its out"};
  auto const branch = std::find_if(fan.branches.begin(), fan.branches.end(), [&](auto const& known) { return known.first == of.path[at]; });
  if (branch == fan.branches.end()) {
    return {"parallel step `" + fan.id + "` has no branch `" + of.path[at] + "`" + suggestion(of.path[at], names_in(fan)),
            "write " + chain_text(names_of{of.path}.first(at)) + ".BRANCH.STEP.out"};
  }
  if (fan.may_be_skipped && at < links_needed(of))
    return may_be_missing(of, at, "step `" + fan.id + "` has a `when` and may be skipped", "");
  if (at + 1 == of.path.size()) {
    if (of.only_tested) return {};
    return {"`" + chain_text(of.path) + "` is a branch", "name a step in it and its out"};
  }
  auto const& wanted = of.path[at + 1];
  auto const found = std::find_if(branch->second.begin(), branch->second.end(), [&](auto const& known) { return known->id == wanted; });
  if (found != branch->second.end()) return check_step(of, at + 2, **found);
  std::vector<std::string_view> known;
  for (auto const& step : branch->second) known.push_back(step->id);
  return {"branch `" + branch->first + "` has no step `" + wanted + "`" + suggestion(wanted, known), ""};
}

// path[at] is what stands behind the step's name.
finding check_step(expr::reference const& of, std::size_t at, visible_step const& step) {
  if (!step.branches.empty()) return check_branch(of, at, step);
  if (!step.has_output) return {"step `" + step.id + "` has no output", ""};
  auto const chain = chain_text(names_of{of.path}.first(at));
  if (at == of.path.size()) return {"`" + chain + "` is a step", "its output is " + chain + ".out"};
  if (of.path[at] != "out")
    return {"`" + chain_text(names_of{of.path}.first(at + 1)) + "` is not known: a step has `out` only", "its output is " + chain + ".out"};
  if (step.may_be_skipped && at < links_needed(of))
    return may_be_missing(of, at, "step `" + step.id + "` has a `when` and may be skipped", "");
  return check_fields(of, at + 1, step.out, "the `out` schema of step `" + step.id + "`");
}

finding check_steps(expr::reference const& of, expression_scope const& names) {
  if (of.path.size() < 2) return {"`steps` can't be used as a whole", "name a step: steps.ID.out"};
  for (auto const& step : names.steps->visible()) {
    if (step->id == of.path[1]) return check_step(of, 2, *step);
  }
  return unknown_step(of.path[1], names);
}

// The answer of a step whose compensation this is: a map, but maybe an empty one.
finding check_answer(expr::reference const& of, expression_scope const& names) {
  if (links_needed(of) < 2 && of.path.size() > 1) return {};
  if (links_needed(of) == 0) return {};
  auto const chain = chain_text(of.path);
  return {"`" + chain + "` may be missing: the outcome of `" + names.step_id + "` can stay unknown",
          "guard it with has(" + (of.path.size() > 1 ? chain : std::string{"out.FIELD"}) + "), or compute it from input, in or saga.id"};
}

finding check_one(expr::reference const& of, expression_scope const& names) {
  auto const& root = of.path.front();
  if (root == "steps" && names.steps != nullptr) return check_steps(of, names);
  if (root == "out") return check_answer(of, names);
  auto const known = names.names.find(root);
  if (known == names.names.end()) return {};
  return check_fields(of, 1, known->second, root == "input" ? "the schema of `input`" : "`" + root + "`");
}

}  // namespace

void check_references(expr::program const& program, spot const& at, expression_scope const& names, report& out) {
  for (auto const& reference : program.references()) {
    if (reference.path.empty()) continue;
    auto wrong = check_one(reference, names);
    if (wrong.message.empty()) continue;
    out.mistake(place_in(*at, reference.offset), at.path, std::move(wrong.message), std::move(wrong.hint));
  }
}

}  // namespace atone::yaml
