// What must hold of every run, checked against the participants' own tables.
#include <algorithm>

#include "world.hpp"

namespace atone::simulation {
namespace {

struct facts {
  saga_row const& row;
  saga_machine const& machine;
  std::map<std::string, effects> const& seen;
  std::vector<std::string>& found;

  void wrong(std::string const& what) const { found.push_back(row.id.text() + " (" + std::string{name(row.status)} + "): " + what); }
};

void check_step(facts const& of, step_view const& step) {
  auto const at = of.seen.find(step.path.text());
  effects const seen = at == of.seen.end() ? effects{} : at->second;
  if (seen.actions > 1) of.wrong(step.path.text() + " was done " + std::to_string(seen.actions) + " times");
  if (seen.compensations > 1) of.wrong(step.path.text() + " was compensated " + std::to_string(seen.compensations) + " times");
  bool const is_action = step.phase == run_phase::done && !step.fell_back;
  bool const parallel = step.attempts == 0;
  if (of.row.status == saga_status::completed && is_action && !parallel && seen.actions != 1) {
    of.wrong(step.path.text() + " is done in the journal and has " + std::to_string(seen.actions) + " effects");
  }
  if (of.row.status == saga_status::completed && seen.compensations != 0)
    of.wrong(step.path.text() + " was compensated in a completed saga");
  if (of.row.status == saga_status::compensated && seen.actions != seen.compensations) {
    of.wrong(step.path.text() + " has a net effect in a compensated saga");
  }
}

// Inside a sequence compensations come in strict reverse: a step's own after those of every later step of its sequence.
void check_order(facts const& of, std::vector<std::string> const& undone, std::vector<step_view> const& steps) {
  auto const position = [&](std::string const& path) {
    return std::find_if(steps.begin(), steps.end(), [&](step_view const& one) { return one.path.text() == path; }) - steps.begin();
  };
  auto const parent = [](std::string const& path) { return path.substr(0, path.find_last_of('/') + 1); };
  for (std::size_t first = 0; first < undone.size(); ++first) {
    for (std::size_t second = first + 1; second < undone.size(); ++second) {
      if (parent(undone[first]) != parent(undone[second])) continue;
      if (position(undone[first]) < position(undone[second])) of.wrong(undone[first] + " was undone before " + undone[second]);
    }
  }
}

}  // namespace

void world::check_saga(saga_row const& row, std::vector<std::string>& found) {
  auto const history = reader_->history(row.id);
  definition_ptr definition;
  for (auto const& one : definitions_) {
    if (one->ref == row.definition) definition = one;
  }
  if (!history || definition == nullptr) return found.push_back(row.id.text() + ": no history or no definition");
  saga_machine machine{definition, row.id, row.key};
  for (auto const& one : *history) {
    if (one.seq.value() != machine.last().value() + 1) return found.push_back(row.id.text() + ": the history has a gap");
    if (auto const applied = machine.apply(one); !applied) return found.push_back(row.id.text() + ": replay: " + applied.error().message);
  }
  facts const of{row, machine, effects_[row.id], found};
  if (machine.status() != row.status) of.wrong("replay says " + std::string{name(machine.status())});
  if (!is_final(row.status)) of.wrong("did not come to an end; cause: " + row.cause);
  for (auto const& step : machine.steps()) check_step(of, step);
  for (auto const& [path, seen] : of.seen) {
    auto const steps = machine.steps();
    bool const known = std::any_of(steps.begin(), steps.end(), [&](step_view const& one) { return one.path.text() == path; });
    if (!known && seen.actions != seen.compensations) of.wrong(path + " has an effect the journal does not know of");
  }
  check_order(of, undone_[row.id], machine.steps());
  auto const log = reader_->compensations(row.id);
  for (auto const& entry : *log) {
    if (is_final(row.status) && entry.status == compensation_status::pending)
      of.wrong("compensation log: " + entry.step.text() + " is still pending");
  }
}

std::vector<std::string> world::violations() {
  auto found = broken_;
  std::map<std::string, saga_id> holders;
  for (auto const id : sagas()) {
    auto const row = reader_->find(id);
    check_saga(**row, found);
    auto const [holder, first] = holders.emplace((*row)->key.value(), id);
    if (!first) found.push_back("key " + (*row)->key.value() + " has two sagas");
  }
  for (auto const& [name_of, ids] : answered_) {
    if (ids.size() != 1) found.push_back("key " + name_of + " was answered with " + std::to_string(ids.size()) + " ids");
    if (!holders.contains(name_of) || holders.at(name_of) != *ids.begin())
      found.push_back("key " + name_of + " was answered with an id the store does not have: lost");
  }
  return found;
}

}  // namespace atone::simulation
