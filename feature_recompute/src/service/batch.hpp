// What one batch of requests comes to: who gets a stored answer, who is superseded, and what is computed for the others, once an entity.
// Thread rules: one worker thread; figures() from any.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <atone/features/service.hpp>

#include "service/scheduler.hpp"
#include "service/store.hpp"

namespace atone::features {

class batch_worker {
 public:
  batch_worker(feature_set_ptr set, feature_store& store, recomputer engine, std::function<timestamp()> now,
               std::function<void(std::string const&)> alert);

  // Every job is answered, now or when what it came to is durable; by `exhausted` where memory ends.
  void run(std::vector<feature_job> batch);
  // Of the GPUs, where there are any.
  void heartbeat();
  void add_figures(feature_figures& to) const;

 private:
  // A request that is to be computed, with what it left open filled in.
  struct candidate {
    feature_job job;
    std::string entity;
    std::int64_t input = 0;
    timestamp known_at{};
    std::vector<feature_job> repeats;  // came again under the same key meanwhile

    explicit candidate(feature_job of) : job(std::move(of)) {}
  };
  // All of one entity in a batch; `best` has the newest input.
  struct entity_group {
    std::vector<candidate> of;
    std::size_t best = 0;

    entity_group() = default;
  };
  // What became of a key in this batch: a place in its entity's group, or an answer.
  struct batch_key {
    std::string entity;
    entity_group* group = nullptr;
    std::size_t place = 0;
    record_ptr answer;

    batch_key() = default;
  };
  struct groups {
    std::map<std::string, entity_group> of;
    std::unordered_map<std::string, batch_key> keys;

    groups() = default;
  };
  struct told_later;

  void recompute(std::vector<feature_job> batch);
  void admit(feature_job job, groups& into, told_later& later);
  bool answer_known(feature_job& job, groups& into, told_later& later);
  bool answer_twin(feature_job& job, groups& into, told_later& later);
  bool is_others(feature_job& job, std::string const& entity);
  void compute(groups& all, told_later& later);
  void publish_group(entity_group& group, result<feature_version> made, step_record const& seen, told_later& later);
  void publish_one(candidate& of, step_record record, told_later& later);
  void compare(step_record const& made);
  void undo(feature_job job);
  result<step_record> undone(std::string const& key, step_record const& act);
  result<feature_version> nobodys(step_record const& act);
  feature_version version_of(candidate const& of, std::string json) const;
  void refuse(feature_job& job, error why);
  void hand_in(told_later later);
  void count(std::function<void(feature_figures&)> const& change);

  feature_set_ptr set_;
  feature_store& store_;
  recomputer engine_;
  std::function<timestamp()> now_;
  std::function<void(std::string const&)> alert_;
  mutable std::mutex guard_;
  feature_figures figures_;  // under guard_
};

}  // namespace atone::features
