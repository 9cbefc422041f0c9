#include <map>
#include <optional>
#include <set>
#include <utility>

#include <atone/audit.hpp>

#include "isolation.hpp"
#include "judge.hpp"

namespace atone::audit {
namespace {

verdict verdict_of(std::vector<finding> const& findings) {
  auto found = verdict::proven;
  for (auto const& each : findings) {
    if (is_violation(each.kind)) return verdict::violated;
    found = verdict::not_checkable;
  }
  return found;
}

finding repeat(saga_id saga, effect_table::key const& of, std::uint64_t applied) {
  finding made;
  made.kind = finding_kind::effect_twice;
  made.saga = saga;
  made.step = std::get<0>(of);
  made.op = std::get<1>(of);
  made.service = std::get<2>(of);
  made.text = "took effect " + std::to_string(applied) + " times; expected at most once";
  return made;
}

}  // namespace

struct auditor::impl {
  std::set<std::string, std::less<>> sources;
  std::map<saga_id, effect_table> effects;  // what no saga has claimed yet
  std::size_t held = 0;
  report made;
  std::optional<saga_id> deleted_up_to;
  std::optional<saga_id> ends_at;
  std::optional<saga_id> judged_up_to;
  std::set<saga_id> still_open;  // of those up to there
  isolation_books books;
  std::set<saga_id> proven;  // those of them that a broken lock may still change

  bool was_judged(saga_id saga) const { return judged_up_to && saga <= *judged_up_to && !still_open.contains(saga); }

  void judge_isolation() {
    std::vector<finding> broken;
    made.isolation = books.judge(broken);
    for (auto const& one : broken) {
      if (proven.erase(one.saga) == 0) continue;  // violated, or not checkable, already
      --made.proven;
      ++made.violated;
    }
    note(std::move(broken));
  }

  // A saga's effects, which are then no longer anybody else's.
  effect_table claim(saga_id saga) {
    auto node = effects.extract(saga);
    if (node.empty()) return effect_table{};
    return std::move(node.mapped());
  }

  void note(std::vector<finding>&& findings) {
    for (auto& each : findings) {
      if (made.findings.size() < report::findings_max) {
        made.findings.push_back(std::move(each));
      } else {
        ++made.findings_left_out;
      }
    }
  }

  void find_repeats(saga_id saga, effect_table const& of, std::vector<finding>& out) {
    for (auto const& [key, applied] : of.all()) {
      if (applied <= 1) continue;
      ++(std::get<1>(key) == operation::compensate ? made.compensations_twice : made.effects_twice);
      out.push_back(repeat(saga, key, applied));
    }
  }

  void count(verdict of) {
    switch (of) {
      case verdict::proven: ++made.proven; return;
      case verdict::violated: ++made.violated; return;
      case verdict::not_checkable: ++made.not_checkable; return;
    }
  }

  // It may have been deleted, or have begun since: whether it is all or nothing can't be told, but nothing may stand twice.
  void count_untold(std::uint64_t& as, std::vector<finding>&& repeats) {
    ++as;
    if (repeats.empty()) return;
    ++made.violated;
    note(std::move(repeats));
  }

  void count_stranger(saga_id saga, effect_table const& of) {
    if (is_probe(saga)) {
      ++made.probes;
      return;
    }
    std::vector<finding> findings;
    find_repeats(saga, of, findings);
    if (deleted_up_to && saga <= *deleted_up_to) return count_untold(made.deleted, std::move(findings));
    if (ends_at && saga > *ends_at) return count_untold(made.began_later, std::move(findings));
    for (auto const& [key, applied] : of.all()) {
      if (applied == 0) continue;
      finding orphan = repeat(saga, key, applied);
      orphan.kind = finding_kind::orphan;
      orphan.text = "took effect, but the journal does not know this saga";
      findings.push_back(std::move(orphan));
    }
    if (findings.empty()) return;  // only asked, never applied: a request that was refused or had nothing to undo
    ++made.orphans;
    ++made.violated;
    note(std::move(findings));
  }
};

auditor::auditor(std::vector<std::string> services) : impl_(std::make_unique<impl>()) {
  impl_->sources.insert(services.begin(), services.end());
  impl_->made.services.assign(impl_->sources.begin(), impl_->sources.end());
}

auditor::~auditor() = default;

result<void> auditor::add(effect const& of) {
  if (!impl_->sources.contains(of.service)) {
    return error{errc::invalid_argument, "effects of service '" + of.service + "', which was not announced as a source"};
  }
  if (impl_->was_judged(of.saga)) return {};
  if (impl_->held >= effects_max) {
    return error{errc::exhausted, "more than " + std::to_string(effects_max) + " effects are too many for one audit"};
  }
  ++impl_->held;
  ++impl_->made.effects;
  impl_->effects[of.saga].add(of.step, of.op, of.service, of.applied);
  return {};
}

verdict auditor::judge(saga_facts const& of) {
  auto const effects = impl_->claim(of.row.id);
  std::vector<finding> findings;
  impl_->find_repeats(of.row.id, effects, findings);
  for (auto& each : judge_ended(judgement{of, effects, impl_->sources})) findings.push_back(std::move(each));
  auto const found = verdict_of(findings);
  impl_->count(found);
  if (of.definition && of.definition->lock && found == verdict::proven) impl_->proven.insert(of.row.id);
  if (of.definition && !history_gap(of)) impl_->books.note(of);
  ++(of.row.status == saga_status::completed ? impl_->made.completed : impl_->made.compensated);
  impl_->note(std::move(findings));
  return found;
}

void auditor::set_aside(saga_row const& row) {
  auto const effects = impl_->claim(row.id);
  std::vector<finding> repeats;
  impl_->find_repeats(row.id, effects, repeats);
  if (!repeats.empty()) {
    ++impl_->made.violated;  // whatever becomes of it
    impl_->note(std::move(repeats));
  }
  ++(row.status == saga_status::parked ? impl_->made.parked : impl_->made.unfinished);
}

void auditor::judged_before(saga_id newest, std::set<saga_id> open) {
  impl_->made.continues = true;
  impl_->judged_up_to = newest;
  impl_->still_open = std::move(open);
}

void auditor::deleted_up_to(saga_id newest) {
  impl_->deleted_up_to = newest;
}

void auditor::journal_ends_at(saga_id newest) {
  impl_->ends_at = newest;
}

std::vector<saga_id> auditor::unclaimed() const {
  std::vector<saga_id> ids;
  for (auto const& [saga, effects] : impl_->effects) {
    if (!is_probe(saga)) ids.push_back(saga);
  }
  return ids;
}

report auditor::finish() {
  for (auto const& [saga, effects] : impl_->effects) impl_->count_stranger(saga, effects);
  impl_->effects.clear();
  impl_->judge_isolation();
  return std::move(impl_->made);
}

bool is_probe(saga_id saga) noexcept {
  for (std::size_t at = 0; at < 6; ++at) {
    if (saga.value()[at] != 0) return false;
  }
  return true;
}

}  // namespace atone::audit
