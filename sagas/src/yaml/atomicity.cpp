#include "yaml/atomicity.hpp"

namespace atone::yaml {
namespace {

std::string named(step_note const& of) {
  return of.id.empty() ? "this step" : "step `" + of.id + "`";
}

void refuse_pair(std::optional<spot> const& left, std::optional<spot> const& right, std::string_view why, report& out) {
  if (!left || !right) return;
  auto const first = left->path.substr(left->path.rfind('.') + 1);
  auto const second = right->path.substr(right->path.rfind('.') + 1);
  out.mistake(*right, "`" + first + "` and `" + second + "` exclude each other: " + std::string{why});
}

// What one action says of itself, wherever it stands.
void check_declaration(step_note const& of, report& out) {
  refuse_pair(of.compensate, of.read_only, "what changes nothing needs no undoing", out);
  refuse_pair(of.compensate, of.retriable, "a retriable step is repeated until done, never undone", out);
  refuse_pair(of.pivot, of.retriable, "the pivot may be refused, a retriable step may not", out);
  refuse_pair(of.pivot, of.read_only, "the pivot is the write that decides", out);
  refuse_pair(of.retriable, of.read_only, "one says that it writes, the other that it does not", out);
  if (of.fallback && of.pivot) out.mistake(*of.fallback, "a pivot can't have a fallback: its outcome decides the saga");
  if (of.fallback && of.retriable) out.mistake(*of.fallback, "a retriable step can't have a fallback: it is repeated until done");
  if (of.compensate || of.pivot || of.retriable || of.read_only) return;
  out.mistake(of.at, of.path, named(of) + " does not say what happens to its effect when the saga fails",
              "declare `compensate: {…}`, `pivot: true`, `retriable: true` (after a pivot) or `read_only: true`");
}

void check_pivot(step_note const& of, report& out) {
  if (of.compensate) return;
  out.warning(of.at, of.path,
              "pivot " + named(of) + " has no compensation: refused after an attempt with unknown outcome, it would be parked",
              "give it `compensate`, or expect an operator to decide");
}

// Where in the saga a step stands.
enum class phase : std::uint8_t { before_pivot, without_pivot, after_pivot };

void check_place(step_note const& of, phase where, step_note const* pivot, report& out) {
  auto const pivot_name = pivot == nullptr ? std::string{} : "pivot `" + pivot->id + "` (line " + std::to_string(pivot->at.line) + ")";
  if (of.retriable && where == phase::without_pivot) {
    out.mistake(*of.retriable, named(of) + " is retriable, but no step is the pivot", "without a pivot every write needs `compensate`");
  }
  if (of.retriable && !of.pivot && where == phase::before_pivot) {
    out.mistake(*of.retriable, named(of) + " is retriable, but stands before the " + pivot_name,
                "before the pivot every write needs `compensate`");
  }
  if (of.compensate && !of.pivot && where == phase::after_pivot) {
    out.mistake(*of.compensate, named(of) + " stands after the " + pivot_name + ", where nothing is undone any more",
                "declare it `retriable: true`, or put it before the pivot");
  }
}

void check_list(std::vector<step_note> const& list, phase where, step_note const* pivot, bool inside_parallel, report& out);

void check_step(step_note const& of, phase where, step_note const* pivot, bool inside_parallel, report& out) {
  if (of.kind == step_note::kind_of::parallel) {
    for (auto const& branch : of.branches) check_list(branch, where, pivot, true, out);
    return;
  }
  if (of.kind == step_note::kind_of::fail) {
    if (where == phase::after_pivot)
      out.mistake(of.at, of.path, "`fail` after the pivot: nothing can be undone there", "fail before the pivot");
    return;
  }
  check_declaration(of, out);
  if (of.pivot && inside_parallel) {
    out.mistake(*of.pivot, "a pivot can't stand inside a parallel step: its siblings would be neither before nor after it",
                "put it behind the parallel step");
  }
  check_place(of, where, pivot, out);
}

void check_list(std::vector<step_note> const& list, phase where, step_note const* pivot, bool inside_parallel, report& out) {
  for (auto const& one : list) check_step(one, where, pivot, inside_parallel, out);
}

step_note const* first_pivot(std::vector<step_note> const& root) {
  for (auto const& one : root) {
    if (one.pivot) return &one;
  }
  return nullptr;
}

}  // namespace

void check_atomicity(std::vector<step_note> const& root, report& out) {
  auto const* pivot = first_pivot(root);
  auto where = pivot == nullptr ? phase::without_pivot : phase::before_pivot;
  for (auto const& one : root) {
    if (one.pivot && &one != pivot) {
      out.mistake(*one.pivot,
                  "a saga has one pivot at most; `" + pivot->id + "` (line " + std::to_string(pivot->at.line) + ") is it already",
                  "after the pivot steps are `retriable: true` or `read_only: true`");
    }
    check_step(one, where, pivot, false, out);
    if (&one != pivot) continue;
    check_pivot(one, out);
    where = phase::after_pivot;
  }
}

}  // namespace atone::yaml
