// One deterministic world around the real engine: virtual time, a memory store whose commits are late, refused or lose their
// answer, participants that are slow, forgetful, doubled and lying about nothing, and crashes between any two happenings.
// Everything is drawn from one seed; the same seed gives the same run.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <atone/load.hpp>

#include "runtime/engine.hpp"

namespace atone::simulation {

// How likely each fault is, in thousandths; zero switches the kind off.
struct faults {
  std::uint32_t refuse = 0;          // a final no (actions only)
  std::uint32_t busy = 0;            // 429: definitely not done
  std::uint32_t error = 0;           // 503 before the work
  std::uint32_t lose_answer = 0;     // the work is done, the answer is lost
  std::uint32_t duplicate = 0;       // the request arrives twice
  std::uint32_t late = 0;            // the answer comes after the attempt's timeout
  std::uint32_t reorder = 0;         // a copy of the request arrives much later, after everything
  std::uint32_t store_away = 0;      // a commit finds the store away
  std::uint32_t commit_unknown = 0;  // a commit takes effect, its answer is lost
  std::uint32_t hold = 0;            // the call waits in the sender (its address takes no connections); it can be taken back
  std::uint32_t hang = 0;            // a local handler does the work and never answers
  std::uint32_t cancel = 0;          // somebody cancels the saga at a drawn moment
  std::uint32_t crash = 0;           // after any happening

  faults() = default;
};

// What the participants' own tables say of one step of one saga.
struct effects {
  std::uint32_t actions = 0;  // applied, behind the barrier
  std::uint32_t compensations = 0;
  std::uint32_t empty = 0;         // compensations that found nothing
  std::uint32_t refused_late = 0;  // actions after their compensation
  std::uint32_t swallowed = 0;     // duplicates

  effects() = default;
};

class world final : public clock_source,
                    public random_source,
                    public id_source,
                    public runtime::caller,
                    public runtime::batch_writer,
                    public runtime::store_lookup,
                    public runtime::scheduler,
                    public runtime::probe,
                    public runtime::tenure {
 public:
  world(std::uint64_t seed, faults what);
  ~world() override;

  void publish(std::string_view yaml);
  void start(std::string const& saga, std::string key, std::string input);
  // A refusal is a final answer of the participant, the same for every duplicate.
  void always_refuse(std::string step) { refusing_.insert(std::move(step)); }
  void never_refuse(std::string step) { willing_.insert(std::move(step)); }
  // Runs until nothing is left to happen or `limit` of virtual time has passed. Faults stop at `calm`.
  void run(duration calm, duration limit);
  void crash();
  void crash_at(std::uint64_t happening) { crash_at_ = happening; }

  // What is wrong with this world, by every checker; empty: nothing.
  std::vector<std::string> violations();
  std::uint64_t happenings() const noexcept { return happenings_; }
  std::uint64_t crashes() const noexcept { return crashes_; }
  std::map<saga_status, std::uint64_t> counts();
  std::map<std::string, effects> const& effects_of(saga_id saga) { return effects_[saga]; }
  std::vector<saga_id> sagas() const;
  journal_reader& reader() { return *reader_; }
  std::map<std::string, std::set<saga_id>> const& answered_keys() const { return answered_; }
  // The text of everything that happened, for comparing two runs of one seed.
  std::string const& trace() const noexcept { return trace_; }

  timestamp now() override { return now_; }
  std::uint64_t next() override;
  saga_id next_saga(timestamp at) override;
  void send(runtime::outgoing_call what, runtime::caller::completion done) override;
  runtime::given_up abandon(saga_id saga, step_path const& step, operation op) override { return take_back(saga, step, op); }
  runtime::given_up take_back(saga_id saga, step_path const& step, operation op) override;
  void halt() override { held_.clear(); }
  void holder_of(std::string saga_name, business_key key, std::function<void(result<std::optional<key_holder>>)> then) override;
  void commit(journal_batch batch, runtime::batch_writer::completion done) override;
  void commit_sql(sql_statement statement, journal::answer_to_batch on_success, sql_completion done) override;
  void last_output(std::string saga_name, step_path step, std::string key,
                   std::function<void(result<std::optional<last_output_row>>)> then) override;
  void reload(saga_id saga, std::function<void(result<std::optional<open_saga>>)> then) override;
  void defer(std::function<void()> work) override;
  void wake_at(std::optional<timestamp> due) override;

 private:
  void leave(runtime::outgoing_call const& what, runtime::caller::completion const& done);
  void cancel_later(saga_id saga);
  struct participant_answer {
    bool refused = false;
    std::string body;
  };
  using step_key = std::pair<saga_id, std::string>;

  bool draw(std::uint32_t thousandths);
  duration draw_delay(duration longest);
  void at(timestamp when, std::function<void()> what);
  void in_this_life(duration after, std::function<void()> what);
  participant_answer participant(runtime::outgoing_call const& call);
  void arrive(runtime::outgoing_call const& call, runtime::caller::completion const& done);
  void try_commit(std::shared_ptr<journal_batch> batch, batch_number number, runtime::batch_writer::completion done);
  void boot();
  void check_saga(saga_row const& row, std::vector<std::string>& found);
  void note(std::string_view what, saga_id saga, std::string_view step, std::string_view more);

  faults faults_;
  bool raging_ = true;
  std::uint64_t state_;
  timestamp now_{std::chrono::seconds{1'700'000'000}};
  std::uint64_t happenings_ = 0;
  std::uint64_t crashes_ = 0;
  std::optional<std::uint64_t> crash_at_;
  std::uint64_t life_ = 0;
  std::uint64_t ids_ = 0;
  std::uint64_t order_ = 0;
  std::map<std::pair<timestamp, std::uint64_t>, std::function<void()>> agenda_;
  std::optional<std::pair<timestamp, std::uint64_t>> alarm_;
  std::unique_ptr<store> store_;
  std::unique_ptr<journal> journal_;
  std::unique_ptr<journal_reader> reader_;
  std::uint64_t last_number_ = 0;
  std::vector<definition_ptr> definitions_;
  std::unique_ptr<runtime::engine> engine_;
  std::set<std::string> refusing_;
  std::set<std::string> willing_;
  // The participants' tables: they outlive every crash of the coordinator.
  std::map<saga_id, std::map<std::string, effects>> effects_;
  std::map<std::pair<step_key, operation>, participant_answer> stored_;
  std::set<step_key> tombstones_;
  std::map<saga_id, std::vector<std::string>> undone_;  // order of applied compensations
  std::set<saga_id> ended_;                             // told as ended: nothing may be sent any more
  std::vector<std::string> broken_;                     // violations seen while running
  std::map<std::string, std::set<saga_id>> answered_;   // key -> ids that starts were answered with
  std::string trace_;
  std::set<std::tuple<saga_id, std::string, operation>> held_;  // calls that have not left
};

}  // namespace atone::simulation
