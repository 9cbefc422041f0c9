// The audit of atomicity: from what the journal says and from what the participants' own tables say, whether each saga is
// all or nothing. Pure: whoever calls it reads the journal and the participants (`atone audit` does, over HTTP).
//
// What is judged, and why: docs/audit.md. In short, a completed saga has every effect of its done steps once and no other; a
// compensated one has no net effect; nothing is ever applied twice; no participant knows a saga that the journal does not.
//
// Thread rules: an auditor belongs to one thread; everything else is plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <atone/definition.hpp>
#include <atone/event.hpp>
#include <atone/ids.hpp>
#include <atone/records.hpp>
#include <atone/result.hpp>

namespace atone::audit {

// What a participant says: how often one operation of one step took effect in its own tables.
struct effect {
  std::string service;  // as the definitions name it
  saga_id saga;
  step_path step;
  operation op = operation::act;
  std::uint64_t applied = 0;  // 0: it was asked, but refused or had nothing to do

  effect() = default;
};

// One page of a participant's answer to GET /atone/effects.
struct effect_page {
  static constexpr std::size_t rows_max = 10'000;  // a page

  std::vector<effect> effects;
  std::string next;  // pass it as `after`; empty: that was the last page

  effect_page() = default;
};
// Reads {"effects": [{"saga", "step", "op", "applied"} …], "next": text or null}; unknown fields are ignored. Errors
// (invalid_argument) name the service, the row and the field.
result<effect_page> read_effect_page(std::string_view service, std::string_view json);

// What the journal says of one saga.
struct saga_facts {
  saga_row row;               // ended: judge() aborts on any other
  definition_ptr definition;  // the one it is bound to; null: could not be had
  std::vector<event> events;  // all, from 1

  saga_facts() = default;
};

// What can be said of a saga, or of all. `not_checkable` is not a pass: something needed was missing, or a person decided.
enum class verdict : std::uint8_t { proven, violated, not_checkable };
std::string_view name(verdict of) noexcept;

// Why a saga is not proven. The violations stand first: is_violation() goes by the order.
enum class finding_kind : std::uint8_t {
  // violations
  effect_missing,         // the journal says done, the participant's tables do not
  effect_unexpected,      // a step that was skipped or refused took effect all the same
  effect_twice,           // the same operation of the same step took effect more than once
  effect_left,            // compensated, but the step's effect still stands
  undone_without_doing,   // a compensation took effect although its action had not
  undone_when_completed,  // a compensation took effect in a completed saga
  step_unknown,           // an effect of a step or operation that the definition does not have
  orphan,                 // an effect of a saga that the journal does not know
  journal_contradicts,    // the journal itself says that one operation succeeded twice
  cause_missing,          // an event does not say which earlier one it answers
  lock_broken,            // acted without its lock, or had it while another saga had it
  // why it can't be checked
  definition_missing,
  history_incomplete,  // events are missing or not in order
  source_missing,      // a service that took part was not read
  operator_decided,    // a person skipped or supplied something: what stands then is theirs to judge
};
std::string_view name(finding_kind of) noexcept;  // "effect_missing" …, as in the JSON report
constexpr bool is_violation(finding_kind of) noexcept {
  return of < finding_kind::definition_missing;
}

// One reason for a verdict, with its place.
struct finding {
  finding_kind kind = finding_kind::effect_missing;
  std::string service;  // empty where the finding is about the saga as a whole; then `step` and `op` are empty too
  saga_id saga;
  step_path step;
  operation op = operation::none;
  std::string text;  // for people: what was found, what was expected

  finding() = default;
};

// Sagas that were at work beside each other: who acted at a service while another saga of the same key, which had acted there, was not
// over, may have seen what was undone later. A `lock` forbids it (finding lock_broken); without one it is allowed, and told.
struct isolation {
  static constexpr std::size_t examples_max = 20;

  struct meeting {
    std::string key;  // the value of `shard_key` as JSON, or "lock " and that of `lock`
    saga_id saga;     // the later one
    saga_id beside;
    bool undone = false;  // `beside` was compensated

    meeting() = default;
  };
  std::uint64_t keys = 0;           // values that tie sagas to each other
  std::uint64_t sagas = 0;          // ended ones that have one
  std::uint64_t beside = 0;         // of them, those that began while an earlier one was at work at a service of theirs
  std::uint64_t beside_undone = 0;  // of them, those beside one that was compensated
  std::vector<meeting> examples;    // those beside an undone one first

  isolation() = default;
};

// What `atone audit` prints and exits with.
struct report {
  static constexpr std::size_t findings_max = 1000;  // kept with their text; all are counted

  std::vector<std::string> services;  // that were read
  std::uint64_t proven = 0;
  std::uint64_t violated = 0;
  std::uint64_t not_checkable = 0;
  std::uint64_t completed = 0;  // among the ended ones
  std::uint64_t compensated = 0;
  std::uint64_t unfinished = 0;           // still under way: only "nothing twice" was checked
  std::uint64_t parked = 0;               // wait for a person: likewise
  std::uint64_t effects = 0;              // operations that participants know
  std::uint64_t effects_twice = 0;        // operations, other than compensations, that took effect more than once
  std::uint64_t compensations_twice = 0;  // compensations that did
  std::uint64_t orphans = 0;              // sagas that only participants know
  std::uint64_t deleted = 0;              // sagas that only participants know, but may have been deleted: not judged
  std::uint64_t began_later = 0;          // sagas that only participants know, but may have begun after the journal was copied: not judged
  std::uint64_t probes = 0;               // sagas of `atone poke`, left aside
  std::vector<finding> findings;          // the first findings_max, in the order of judging
  std::uint64_t findings_left_out = 0;    // beyond that
  bool continues = false;                 // an earlier audit has judged what came before: nothing new to judge is proven too
  audit::isolation isolation;             // among the judged ones

  report() = default;
  // Includes orphans, and sagas set aside that were found violated all the same.
  std::uint64_t judged() const noexcept { return proven + violated + not_checkable; }
  // violated before not_checkable; nothing judged is not_checkable, unless it continues: an audit that saw nothing proves nothing.
  atone::audit::verdict verdict() const noexcept;
};

// 0 proven, 1 violated, 2 not checkable.
int exit_code(report const& of) noexcept;
std::string to_json(report const& of);  // one object: verdict, services, the counts, findings
std::string to_text(report const& of);  // for a terminal: a summary, then one line a finding

// Sagas that `atone poke` makes up: the id's time part is zero, which no real saga has.
bool is_probe(saga_id saga) noexcept;

// Judges saga by saga, so that only the effects are held in memory.
class auditor {
 public:
  static constexpr std::size_t effects_max = 20'000'000;  // what add() takes in all; bounds the memory

  // `services`: whose effects will have been read completely before the first saga is judged.
  explicit auditor(std::vector<std::string> services);
  ~auditor();
  auditor(auditor const&) = delete;
  auditor& operator=(auditor const&) = delete;

  // Errors: exhausted above effects_max; invalid_argument when the effect's service was not announced.
  result<void> add(effect const& of);

  // Each saga once, and only ended ones (another aborts); its effects are used up by it. Only sagas that had ended before the effects were
  // read may be passed as ended: an older reading of the participants proves nothing about a younger end.
  verdict judge(saga_facts const& of);
  // A saga that the journal knows but that is not judged (not ended when the effects were read). Effects applied twice are a violation
  // all the same. Once a saga; uses up its effects.
  void set_aside(saga_row const& row);

  // Sagas with effects that were neither judged nor set aside so far, probes left out: the caller asks the journal for each before
  // finish().
  std::vector<saga_id> unclaimed() const;
  // An earlier audit has judged all sagas up to this one, but for those in `open`: what participants say of the others is passed over.
  // Before the first add().
  void judged_before(saga_id newest, std::set<saga_id> open);
  // Sagas up to this one may have been deleted from the journal (deletion_record::newest, read after everything else): such an unclaimed
  // one is no orphan. Effects applied twice are a violation all the same.
  void deleted_up_to(saga_id newest);
  // The journal is a copy, complete up to this saga: an unclaimed one above it may have begun since, and is no orphan. Effects applied
  // twice are a violation all the same.
  void journal_ends_at(saga_id newest);
  // What is still unclaimed now counts as orphans, where it had an effect. Ends the audit: the auditor is not to be used after it.
  report finish();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace atone::audit
