#include "yaml/steps.hpp"

#include <array>

#include <atone/yaml/fields.hpp>

#include "yaml/keys.hpp"

namespace atone::yaml {
namespace {

constexpr std::array verbs{std::string_view{"call"}, std::string_view{"sql"}, std::string_view{"parallel"}, std::string_view{"fail"}};
constexpr std::array words_all{std::string_view{"all"}};
constexpr std::array words_cancel{std::string_view{"cancel_rest"}};
constexpr std::size_t branches_max = 100;

constexpr std::array keys_of_parallel{std::string_view{"id"}, std::string_view{"when"}, std::string_view{"parallel"},
                                      std::string_view{"branches"}};
constexpr std::array keys_of_fail{std::string_view{"id"}, std::string_view{"when"}, std::string_view{"fail"}};

// The step's one verb, or nothing (reported).
std::optional<std::string_view> find_verb(spot const& at, report& out) {
  std::optional<std::string_view> found;
  for (auto const& member : at->entries) {
    auto const known = std::find(verbs.begin(), verbs.end(), member.key.text);
    if (known == verbs.end() || found == *known) continue;
    if (found) {
      out.mistake(member.key.at, child_path(at.path, member.key.text),
                  "the step has two verbs, `" + std::string{*found} + "` and `" + std::string{*known} + "`", "one verb a step");
      return std::nullopt;
    }
    found = *known;
  }
  if (found) return found;
  for (auto const& member : at->entries) {
    if (step_keys.waits(member.key.text) || member.key.text == "<<") return std::nullopt;  // told already
  }
  out.mistake(at, "the step does nothing; expected one of call, sql, parallel, fail");
  return std::nullopt;
}

// Keys that a step may have, but not with this verb.
void check_meaning(spot const& at, std::span<std::string_view const> allowed, std::string_view verb, std::string_view hint, report& out) {
  for (auto const& member : at->entries) {
    if (!step_keys.knows(member.key.text) || std::find(allowed.begin(), allowed.end(), member.key.text) != allowed.end()) continue;
    out.mistake(member.key.at, child_path(at.path, member.key.text),
                "`" + member.key.text + "` has no meaning beside `" + std::string{verb} + "`", std::string{hint});
  }
}

void read_parallel_options(spot const& at, report& out) {
  if (!expect_map(at, "a map, as in {join: all, on_failure: cancel_rest} or {}", out)) return;
  check_keys(at, parallel_keys, out);
  if (auto const value = field(at, "join")) read_word(*value, words_all, out);
  if (auto const value = field(at, "on_failure")) read_word(*value, words_cancel, out);
}

void read_branch(spot const& at, std::string const& name, reading& with, parallel_verb& into, step_note& note, visible_step& seen,
                 std::size_t depth) {
  auto const mark = with.names.mark();
  std::vector<step_note> notes;
  branch made;
  made.name = name;
  made.steps = read_steps(at, with, notes, depth + 1);
  seen.branches.emplace_back(name, with.names.take_since(mark));
  into.branches.push_back(std::move(made));
  note.branches.push_back(std::move(notes));
}

parallel_verb read_parallel(spot const& at, reading& with, step_note& note, visible_step& seen, std::size_t depth) {
  parallel_verb made;
  note.kind = step_note::kind_of::parallel;
  check_meaning(at, keys_of_parallel, "parallel", "give it to the steps inside", with.out);
  read_parallel_options(*field(at, "parallel"), with.out);
  auto const branches = required_field(at, "branches", "a map of branches by name, each a list of steps", with.out);
  if (!branches || !expect_map(*branches, "a map of branches by name, each a list of steps", with.out)) return made;
  auto const count = (*branches)->entries.size();
  if (count == 0 || count > branches_max) {
    with.out.mistake(*branches, "the step has " + std::to_string(count) + " branches; expected 1 to " + std::to_string(branches_max));
    return made;
  }
  with.names.enter(seen.id, at->at.line);
  for (auto const& member : (*branches)->entries) {
    if (!member.key.is_scalar()) continue;
    auto const path = child_path(branches->path, member.key.text);
    auto const name = read_name(spot{member.key, path}, "the name of a branch", true, with.out);
    read_branch(spot{member.value, path}, name.value_or(member.key.text), with, made, note, seen, depth);
  }
  with.names.leave();
  return made;
}

fail_verb read_fail(spot const& at, expression_scope const& names, step_note& note, report& out) {
  fail_verb made;
  note.kind = step_note::kind_of::fail;
  check_meaning(at, keys_of_fail, "fail", "", out);
  if (auto built = read_template(*field(at, "fail"), names, out)) made.reason = std::move(built->what);
  return made;
}

std::string read_id(spot const& at, reading& with) {
  auto const given = required_field(at, "id", "each step has an id, unique where it is seen", with.out);
  if (!given) return {};
  auto const id = read_name(*given, "an id", true, with.out);
  if (!id) return {};
  if (auto const line = with.names.taken(*id)) {
    with.out.mistake(*given, "the id `" + *id + "` is taken by the step on line " + std::to_string(*line),
                     "ids differ along a sequence and what encloses it");
    return {};
  }
  return *id;
}

// The strongest promise of what a parallel step holds.
atomicity promise_of(step_note const& note) {
  if (note.kind == step_note::kind_of::action) {
    if (note.pivot) return atomicity::pivot;
    if (note.retriable) return atomicity::retriable;
    return note.compensate ? atomicity::compensable : atomicity::read_only;
  }
  auto found = atomicity::read_only;
  for (auto const& branch : note.branches) {
    for (auto const& inside : branch) {
      auto const promise = promise_of(inside);
      if (promise == atomicity::compensable) return promise;
      if (promise != atomicity::read_only) found = promise;
    }
  }
  return found;
}

void read_verb(std::string_view verb, spot const& at, expression_scope const& names, reading& with, step& into, step_note& note,
               visible_step& seen, std::size_t depth) {
  if (verb == "parallel") {
    into.verb = read_parallel(at, with, note, seen, depth);
  } else if (verb == "fail") {
    into.verb = read_fail(at, names, note, with.out);
  } else {
    if (auto const branches = field(at, "branches"))
      with.out.mistake(*branches, "`branches` has no meaning beside `" + std::string{verb} + "`", "it needs `parallel`");
    into.verb = read_action(at, names, with, note, seen);
  }
}

std::optional<step> read_step(spot const& at, reading& with, std::vector<step_note>& notes, std::size_t depth) {
  if (!expect_map(at, "a step: a map with `id` and a verb", with.out)) return std::nullopt;
  check_keys(at, step_keys, with.out);
  step made;
  made.id = read_id(at, with);
  made.line = at->at.line;
  auto const names = scope_of(at, made.id, with);
  visible_step seen;
  seen.id = made.id;
  seen.line = made.line;
  if (auto const when = field(at, "when")) {
    made.when = read_typed_expression(*when, names, {expr::type_kind::boolean}, with.out);
    seen.may_be_skipped = true;
  }
  step_note note;
  note.id = made.id;
  note.at = at->at;
  note.path = at.path;
  auto const verb = find_verb(at, with.out);
  if (verb) read_verb(*verb, at, names, with, made, note, seen, depth);
  if (!seen.id.empty()) with.names.add(std::move(seen));
  if (!verb) return std::nullopt;
  made.promise = promise_of(note);
  notes.push_back(std::move(note));
  return made;
}

}  // namespace

expression_scope scope_of(spot const& at, std::string const& id, reading const& with) {
  expression_scope made;
  made.names = with.names.names();
  made.steps = &with.names;
  made.step_path = at.path;
  made.step_id = id;
  return made;
}

std::vector<step> read_steps(spot const& list, reading& with, std::vector<step_note>& notes, std::size_t depth) {
  std::vector<step> made;
  if (!expect_list(list, "a list of steps", with.out)) return made;
  if (list->items.empty()) {
    with.out.mistake(list, "an empty list; expected at least one step");
    return made;
  }
  if (depth > definition::depth_max) {
    with.out.mistake(list, "parallel steps are nested deeper than " + std::to_string(definition::depth_max));
    return made;
  }
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    if (++with.steps > definition::steps_max) {
      if (with.steps == definition::steps_max + 1)
        with.out.mistake(list.item(i), "the saga has more than " + std::to_string(definition::steps_max) + " steps");
      return made;
    }
    if (auto one = read_step(list.item(i), with, notes, depth)) made.push_back(std::move(*one));
  }
  return made;
}

}  // namespace atone::yaml
