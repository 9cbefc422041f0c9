#include "service/batch.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

namespace atone::features {
namespace {

// What a caller may number a version: there is room above for undos and those that nobody numbers.
constexpr std::uint64_t number_max = std::numeric_limits<std::int64_t>::max();

// Of a version's JSON: a record fits a frame.
constexpr std::size_t features_bytes_max = std::size_t{64} << 20;

recompute_answer answer_of(step_record const& of) {
  recompute_answer made;
  made.outcome = of.outcome;
  made.entity = of.entity;
  made.version = of.version;
  return made;
}

std::pair<std::int64_t, timestamp> order_of(feature_version const& of) {
  return {of.input, of.as_of};
}

step_record superseded_by(std::string const& key, step_record const& newer, timestamp now) {
  step_record made;
  made.outcome = recompute_outcome::superseded;
  made.key = key;
  made.entity = newer.entity;
  made.version = newer.version;
  made.answered_at = now;
  return made;
}

bool is_in_bounds(timestamp at) {
  auto const time = at.time_since_epoch().count();
  return time >= -time_max && time <= time_max;
}

// When the newest event happened that counts in a moment.
std::optional<timestamp> newest_in(event_store const& store, feature_moment const& moment) {
  if (!moment.entity) return std::nullopt;
  auto const known = moment.known_at.time_since_epoch().count();
  for (auto row = store.offsets[*moment.entity + 1]; row > store.offsets[*moment.entity]; --row) {
    auto const time = store.times[row - 1];
    bool const visible = store.known_from.empty() || (store.known_from[row - 1] <= known && known < store.known_until[row - 1]);
    if (visible && time <= moment.as_of.time_since_epoch().count()) return timestamp{duration{time}};
  }
  return std::nullopt;
}

// What a record says of its events: which were known, and when others will be.
step_record seen_of(event_store const& store, feature_moment const& moment) {
  step_record made;
  if (!moment.entity) return made;
  auto const begin = store.offsets[*moment.entity];
  auto const end = store.offsets[*moment.entity + 1];
  made.rows_known = end - begin;
  for (auto row = begin; row < end && !store.known_from.empty(); ++row) {
    timestamp const known{duration{store.known_from[row]}};
    if (known <= moment.known_at) continue;
    --made.rows_known;
    made.next_known = std::min(made.next_known.value_or(known), known);
  }
  return made;
}

}  // namespace

// What is told once it is durable, and the records that make it so.
struct batch_worker::told_later {
  std::vector<record_ptr> records;
  std::vector<std::pair<feature_job, recompute_answer>> answers;

  told_later() = default;
  void answer(feature_job job, step_record const& with) { answers.emplace_back(std::move(job), answer_of(with)); }
  void add(feature_job job, step_record record, bool remembered) {
    answer(std::move(job), record);
    if (remembered) records.push_back(std::make_shared<step_record const>(std::move(record)));
  }
};

batch_worker::batch_worker(feature_set_ptr set, feature_store& store, recomputer engine, std::function<timestamp()> now,
                           std::function<void(std::string const&)> alert)
    : set_(std::move(set)), store_(store), engine_(std::move(engine)), now_(std::move(now)), alert_(std::move(alert)) {}

void batch_worker::run(std::vector<feature_job> batch) {
  bool const is_undo = batch.front().is_undo;
  try {
    if (!is_undo) return recompute(std::move(batch));
    for (auto& one : batch) undo(std::move(one));
  } catch (std::exception const& thrown) {
    // Whoever had no answer has got one on the way here; what was handed over is the store's.
    alert_(std::string{"a batch of "} + (is_undo ? "undos" : "recomputes") + " came to no end: " + thrown.what());
  }
}

void batch_worker::heartbeat() {
  engine_.look_after();
}

void batch_worker::add_figures(feature_figures& to) const {
  std::lock_guard const guard{guard_};
  to = figures_;
}

void batch_worker::count(std::function<void(feature_figures&)> const& change) {
  std::lock_guard const guard{guard_};
  change(figures_);
}

void batch_worker::refuse(feature_job& job, error why) {
  count([](auto& of) { ++of.refused; });
  job.then(std::move(why));
}

void batch_worker::recompute(std::vector<feature_job> batch) {
  groups all;
  told_later later;
  for (auto& one : batch) admit(std::move(one), all, later);
  if (!all.of.empty()) compute(all, later);
  hand_in(std::move(later));
  auto const by = engine_.counts();
  count([&](auto& of) {
    ++of.batches;
    of.rows_by_cpu = by.rows_by_cpu;
    of.rows_by_gpu = by.rows_by_gpu;
  });
}

// Records and answers of one batch: durable together, then told.
void batch_worker::hand_in(told_later later) {
  if (later.answers.empty()) return;
  auto const tell = [answers = std::make_shared<decltype(later.answers)>(std::move(later.answers))](result<void> durable) {
    for (auto& [job, answer] : *answers) durable ? job.then(std::move(answer)) : job.then(durable.error());
  };
  later.records.empty() ? store_.after_all(tell) : store_.publish(later.records, tell);
}

// What needs no computing is answered, what does goes to its entity's group.
void batch_worker::admit(feature_job job, groups& into, told_later& later) {
  if (answer_known(job, into, later)) return;
  auto const now = now_();
  if (job.what.deadline && now > *job.what.deadline) {
    return refuse(job, error{errc::unavailable, "the deadline had passed before the recompute was begun; nothing was done"});
  }
  auto const name = store_.name(job.what.entity);
  if (!name) return refuse(job, name.error());
  candidate made{std::move(job)};
  made.entity = *name;
  made.input = made.job.what.input.value_or(made.job.what.as_of.time_since_epoch().count());
  made.known_at = made.job.what.known_at.value_or(now);
  if (!is_in_bounds(made.job.what.as_of) || !is_in_bounds(made.known_at)) {
    return refuse(made.job, error{errc::invalid_argument, "as_of or known_at is out of bounds; expected at most 73,000 years from 1970"});
  }
  auto const newest = store_.newest(made.entity);
  if (made.job.what.number && (*made.job.what.number == 0 || *made.job.what.number > number_max)) {
    return refuse(made.job, error{errc::invalid_argument, "number: found " + std::to_string(*made.job.what.number) + ", expected 1 to " +
                                                              std::to_string(number_max)});
  }
  bool const is_older = newest && std::pair{made.input, made.job.what.as_of} < order_of(newest->version);
  bool const is_numbered = newest && made.job.what.number && *made.job.what.number <= newest->version.number;
  if (is_older || is_numbered) {
    count([](auto& of) {
      ++of.recomputes;
      ++of.superseded;
    });
    auto record = superseded_by(made.job.what.key, *newest, now);
    bool const remembered = !record.key.empty();
    if (remembered) {
      auto& key = into.keys[record.key];
      key.entity = made.entity;
      key.answer = std::make_shared<step_record const>(record);
    }
    return later.add(std::move(made.job), std::move(record), remembered);
  }
  auto& group = into.of[made.entity];
  if (!made.job.what.key.empty()) {
    auto& key = into.keys[made.job.what.key];
    key.entity = made.entity;
    key.group = &group;
    key.place = group.of.size();
  }
  group.of.push_back(std::move(made));
  auto const& last = group.of.back();
  auto const& best = group.of[group.best];
  if (std::pair{best.input, best.job.what.as_of} < std::pair{last.input, last.job.what.as_of}) group.best = group.of.size() - 1;
}

// Whether the key has its answer, or gets the one of its twin in this batch.
bool batch_worker::answer_known(feature_job& job, groups& into, told_later& later) {
  if (job.what.key.empty()) return false;
  auto const known = store_.step(job.what.key);
  if (known.undo) {
    refuse(job, error{errc::conflict, "step " + job.what.key + " has been undone: its recompute is not done any more"});
    return true;
  }
  if (!known.act) return answer_twin(job, into, later);
  if (is_others(job, known.act->entity)) return true;
  count([](auto& of) { ++of.repeated; });
  later.answer(std::move(job), *known.act);
  return true;
}

bool batch_worker::answer_twin(feature_job& job, groups& into, told_later& later) {
  auto const twin = into.keys.find(job.what.key);
  if (twin == into.keys.end()) return false;
  auto const& key = twin->second;
  if (is_others(job, key.entity)) return true;
  count([](auto& of) { ++of.repeated; });
  if (key.answer) {
    later.answer(std::move(job), *key.answer);
  } else {
    key.group->of[key.place].repeats.push_back(std::move(job));
  }
  return true;
}

// Refuses a job whose key belongs to another entity.
bool batch_worker::is_others(feature_job& job, std::string const& entity) {
  auto const name = store_.name(job.what.entity);
  if ((name ? *name : job.what.entity) == entity) return false;
  refuse(job, error{errc::conflict, "key " + job.what.key + " was used for entity '" + entity + "' before"});
  return true;
}

void batch_worker::compute(groups& all, told_later& later) {
  std::vector<std::string> entities;
  for (auto const& [name, group] : all.of) entities.push_back(name);
  auto const events = store_.gather(entities);
  std::vector<feature_moment> moments;
  std::size_t at = 0;
  for (auto const& [name, group] : all.of) {
    auto const& best = group.of[group.best];
    moments.emplace_back(events ? events->places[at++] : std::nullopt, best.job.what.as_of, best.known_at);
  }
  auto const table = [&]() -> result<feature_table> {
    if (!events) return events.error();
    engine_.keep(events->store);
    return engine_.at(moments);
  }();
  at = 0;
  for (auto& [name, group] : all.of) {
    auto const row = at++;
    auto const& best = group.of[group.best];
    auto json = table ? to_json(*set_, events->store, *table, row, best.job.what.as_of) : result<std::string>{table.error()};
    result<feature_version> made =
        json ? result<feature_version>{version_of(best, *std::move(json))} : result<feature_version>{json.error()};
    if (made) made->newest_event = newest_in(events->store, moments[row]);
    step_record seen;
    if (made) seen = seen_of(events->store, moments[row]);
    if (made) seen.rows_seen = events->rows[row];
    publish_group(group, std::move(made), seen, later);
  }
}

feature_version batch_worker::version_of(candidate const& of, std::string json) const {
  auto const newest = store_.newest(of.entity);
  feature_version made;
  made.number = of.job.what.number.value_or(newest ? newest->version.number + 1 : 1);
  made.input = of.input;
  made.as_of = of.job.what.as_of;
  made.known_at = of.known_at;
  made.published_at = now_();
  made.set = set_->hash;
  made.hash = content_hash::of(json);
  made.json = std::move(json);
  return made;
}

// The newest input is published; who asked for an older one is answered by it, in records behind it: a crash between them leaves no answer
// without its version.
void batch_worker::publish_group(entity_group& group, result<feature_version> made, step_record const& seen, told_later& later) {
  if (made && made->json.size() > features_bytes_max) {
    made =
        error{errc::unsupported, "the features of entity '" + group.of.front().entity.substr(0, 60) + "' have " +
                                     std::to_string(made->json.size()) + " bytes, expected at most " + std::to_string(features_bytes_max)};
  }
  if (!made) {
    for (auto& one : group.of) {
      for (auto& repeat : one.repeats) refuse(repeat, made.error());
      refuse(one.job, made.error());
    }
    return;
  }
  auto& best = group.of[group.best];
  auto record = seen;
  record.key = record.origin = best.job.what.key;
  record.entity = best.entity;
  record.version = *std::move(made);
  record.answered_at = record.version.published_at;
  compare(record);
  count([&](auto& of) {
    of.recomputes += group.of.size();
    ++of.published;
    of.coalesced += group.of.size() - 1;
    of.superseded += group.of.size() - 1;
  });
  publish_one(best, record, later);
  for (std::size_t at = 0; at < group.of.size(); ++at) {
    if (at != group.best) publish_one(group.of[at], superseded_by(group.of[at].job.what.key, record, record.answered_at), later);
  }
}

void batch_worker::publish_one(candidate& of, step_record record, told_later& later) {
  for (auto& repeat : of.repeats) later.answer(std::move(repeat), record);
  bool const remembered = record.is_version() || !record.key.empty();
  later.add(std::move(of.job), std::move(record), remembered);
}

// The same input must give the same features: a difference says that memory, a disk or an engine has failed.
void batch_worker::compare(step_record const& made) {
  auto const before = store_.newest(made.entity);
  if (!before || before->outcome != recompute_outcome::published) return;
  auto const& now = made.version;
  auto const& then = before->version;
  bool const same_events = (!set_->known_at || now.known_at == then.known_at) && made.rows_known == before->rows_known;
  if (order_of(now) != order_of(then) || now.set != then.set || !same_events || now.hash == then.hash) return;
  count([](auto& of) { ++of.differences; });
  alert_("entity '" + made.entity + "': the same input gave other features than before: version " + std::to_string(now.number) + " is " +
         now.hash.text() + ", version " + std::to_string(then.number) + " is " + then.hash.text());
}

void batch_worker::undo(feature_job job) {
  auto const known = store_.step(job.what.key);
  told_later later;
  if (known.act && is_others(job, known.act->entity)) return;
  if (known.undo) {
    if (is_others(job, known.undo->entity)) return;
    count([](auto& of) { ++of.repeated; });
    later.answer(std::move(job), *known.undo);
    return hand_in(std::move(later));
  }
  step_record record;
  record.outcome = recompute_outcome::nothing;
  record.key = job.what.key;
  auto const name = store_.name(job.what.entity);
  record.entity = name ? *name : job.what.entity;
  record.answered_at = record.version.published_at = now_();
  if (known.act) {
    auto made = undone(job.what.key, *known.act);
    if (!made) return refuse(job, made.error());
    record = *std::move(made);
  }
  count([&](auto& of) { of.republished += record.is_version() ? 1 : 0; });
  later.add(std::move(job), std::move(record), true);
  hand_in(std::move(later));
}

// What stands without the step's own version, under a new number. That a newer version stands changes nothing: it may hold what is undone.
result<step_record> batch_worker::undone(std::string const& key, step_record const& act) {
  auto const base = store_.standing(act.entity, key);
  step_record made;
  if (base) {
    made = *base;
  } else {
    auto empty = nobodys(act);
    if (!empty) return empty.error();
    made.version = *std::move(empty);
  }
  auto const newest = store_.newest(act.entity);
  made.outcome = recompute_outcome::republished;
  made.key = key;
  made.entity = act.entity;
  made.version.number = newest ? newest->version.number + 1 : 1;
  made.answered_at = made.version.published_at = now_();
  made.version.tag = version_tag::to_be_updated;
  return made;
}

// Before the first version the entity had the features of nobody; any input is newer than theirs.
result<feature_version> batch_worker::nobodys(step_record const& act) {
  auto const nothing = sort_events(*set_, event_table{*set_});
  if (!nothing) return nothing.error();
  engine_.keep(*nothing);
  std::vector<feature_moment> const moments{feature_moment{std::nullopt, act.version.as_of, act.version.known_at}};
  auto const table = engine_.at(moments);
  if (!table) return table.error();
  auto json = to_json(*set_, *nothing, *table, 0, act.version.as_of);
  if (!json) return json.error();
  feature_version made;
  made.input = std::numeric_limits<std::int64_t>::min();
  made.as_of = act.version.as_of;
  made.known_at = act.version.known_at;
  made.set = set_->hash;
  made.hash = content_hash::of(*json);
  made.json = *std::move(json);
  return made;
}

}  // namespace atone::features
