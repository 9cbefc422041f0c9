// The durable feature store: events, versions and answers in memory, and the log that gives them back. One writer thread makes what has
// gathered durable while the next gathers; no timer holds a commit back.
//
// What is appended or published is in memory at once and in the log in the same order, so that nothing durable was made from what is not;
// only what is durable is told or served.
//
// Thread rules: every member from any thread; callbacks come from the writer thread, in the order of the calls. publish() is for one
// thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <atone/features/service.hpp>

#include "service/event_memory.hpp"
#include "service/log.hpp"
#include "service/step_record.hpp"

namespace atone::features {

// What a step's key stands for: its recompute and what has undone it.
struct step_state {
  record_ptr act;
  record_ptr undo;

  step_state() = default;
};

// What a batch is computed from.
struct gathered_events {
  event_store store;
  std::vector<std::optional<std::uint32_t>> places;  // of each entity that was asked for
  std::vector<std::uint64_t> rows;                   // that it had

  gathered_events() = default;
};

class feature_store {
 public:
  using told = std::function<void(result<void>)>;

  // `settled` is called on the writer thread after each commit. `with.alert` must not throw.
  static result<std::unique_ptr<feature_store>> open(feature_set_ptr set, feature_service_options const& with,
                                                     std::function<void()> settled);
  ~feature_store();
  feature_store(feature_store const&) = delete;
  feature_store& operator=(feature_store const&) = delete;

  void append(event_table const& rows, std::function<void(result<append_outcome>)> then);
  // Records of one batch, durable in their order, told when all are; a crash may leave the first ones. Versions are numbered already.
  // While too much waits to be durable it waits, as after_all does.
  void publish(std::vector<record_ptr> const& records, told then);
  // When everything that was handed over before is durable.
  void after_all(told then);
  void rewrite(told then);

  step_state step(std::string const& key) const;
  // The entity's newest version, durable or not; null: none.
  record_ptr newest(std::string const& entity) const;
  // The newest one whose content stands: not undone, and not made by the step of that key.
  record_ptr standing(std::string const& entity, std::string const& but_of) const;
  // The newest durable one.
  record_ptr served(std::string_view entity) const;
  bool is_stale(step_record const& version) const;
  // Of published entities.
  std::vector<record_ptr> stale();

  // The entity's one name, by which everything here knows it ("007" is "7" where entities are integers). Errors: invalid_argument.
  result<std::string> name(std::string const& entity);
  std::uint64_t rows_of(std::string const& entity) const;
  std::optional<timestamp> newest_event(std::string const& entity, timestamp until) const;
  result<gathered_events> gather(std::span<std::string const> entities) const;

  // Nothing waits for the writer and nothing is with it.
  bool is_idle() const;
  void add_figures(feature_figures& to);
  std::optional<timestamp> newest_applied() const;
  std::uint64_t cut_off() const noexcept { return cut_off_; }
  std::string const& path() const noexcept { return path_; }
  // Finishes what was handed over, joins. Idempotent.
  void stop();

 private:
  // Handed over together, durable together.
  struct unit {
    std::string bytes;
    told then;

    unit(std::string of, told call) : bytes(std::move(of)), then(std::move(call)) {}
  };
  struct entity_versions {
    std::vector<record_ptr> kept;  // oldest first
    entity_versions() = default;
  };

  feature_store(feature_set_ptr set, feature_service_options const& with, std::function<void()> settled);
  result<void> read_frame(std::string_view payload);
  result<void> read_entry(std::uint8_t kind, std::string_view bytes);
  result<void> apply(record_ptr const& of);
  bool stands(step_record const& version) const;
  void prune(std::vector<record_ptr>& kept) const;
  bool is_behind(step_record const& version, entity_number entity) const;
  void look_at(entity_number entity);
  void look_at_time();
  std::optional<error> why_not(std::unique_lock<std::mutex>& guard);
  result<event_store> check(event_table const& rows);
  append_outcome take(event_store const& checked, std::string& bytes);
  std::uint64_t hand_over(std::string bytes, told then);
  void write();
  std::uint64_t take_units(std::deque<unit>& into);
  result<void> commit(std::string const& payload, std::uint64_t number);
  result<void> rewrite_now();
  result<std::string> kept_of(std::string_view payload, timestamp oldest) const;
  bool is_kept(step_record const& of, timestamp oldest) const;
  void forget(timestamp oldest);
  record_ptr newest_of(std::string_view entity, std::uint64_t durable) const;

  feature_set_ptr set_;
  std::function<timestamp()> now_;
  std::size_t versions_kept_;
  duration answers_kept_;
  std::uint64_t rewrite_above_;
  std::size_t bytes_waiting_max_;
  std::function<void(std::string const&)> alert_;
  std::function<void()> settled_;
  std::optional<commit_log> log_;  // the writer's, once it runs
  std::string path_;
  std::uint64_t cut_off_ = 0;

  mutable std::mutex guard_;  // of all below
  std::condition_variable wake_;
  std::condition_variable room_;  // for what waits
  event_memory events_;
  std::unordered_map<entity_number, entity_versions> versions_;
  std::unordered_map<std::string, step_state> steps_;
  std::unordered_set<entity_number> stale_;
  std::multimap<timestamp, entity_number> becoming_known_;  // events that a version has not seen since nobody knew them
  std::optional<timestamp> newest_applied_;
  std::deque<unit> units_;
  std::deque<told> rewrites_;
  std::uint64_t ticket_ = 1;   // of the unit handed over last, and number of the frame that ends with it
  std::uint64_t durable_ = 1;  // ticket up to which all is
  std::size_t bytes_waiting_ = 0;
  std::uint64_t commits_ = 0;
  std::uint64_t log_bytes_ = 0;
  std::uint64_t rewritten_bytes_ = 0;  // of the log after it was written anew last
  std::optional<error> failed_;
  bool writing_ = false;
  bool stopping_ = false;
  std::thread writer_;
};

}  // namespace atone::features
