// The checkers. A judge is told of every transition of a run (what the store has accepted, what was sent, what the participants did, what
// people were told) and says what must not have been. It knows the definitions by their drawn trees, keeps its own books of owners and
// epochs, and replays each accepted event through a machine of its own; so memory, journal and effects are held against each other.
// Thread rules: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <atone/coordinator.hpp>
#include <atone/machine.hpp>

#include "blueprint.hpp"
#include "runtime/ports.hpp"
#include "shared_store.hpp"

namespace atone::simulation {

struct violation {
  std::string checker;  // which rule was broken: the words of README.md
  std::string text;

  violation() = default;
};

// What a start was asked with: decides what should happen.
struct start_facts {
  std::int64_t user = 0;
  std::array<bool, input_flags> flags{};

  start_facts() = default;
};

// What a participant did with a request.
enum class deed : std::uint8_t {
  applied,       // an effect of its own
  swallowed,     // a duplicate: answered as before
  refused,       // a final no
  refused_late,  // an action after its compensation
  empty,         // a compensation that found nothing
};

class judge final : public store_observer {
 public:
  // `steady`: neither the store's clock jumps nor what a node that was stopped takes for it, so the pace of attempts can be measured.
  judge(std::vector<blueprint> const& definitions, bool steady);
  ~judge() override;

  void clock(std::function<duration()> now) { now_ = std::move(now); }
  // Hears of each event that is accepted, for the trace of a run.
  void trace(std::function<void(saga_id, event const&)> to) { trace_ = std::move(to); }
  void expect(std::string const& saga, std::string const& key, start_facts with);

  // ---- the store ----
  void committed(writer_number by, epoch under, journal_batch const& what, std::vector<start_loser> const& losers) override;
  void epoch_raised(writer_number of, epoch to, bool alive) override;
  // The store refuses this saga's data: a reason to park it.
  void data_refused(saga_id saga) { refused_.insert(saga); }
  void shard_moved(shard which, std::optional<writer_number> to, epoch as) override;
  void request_lost(std::string const& saga, std::string const& key) override;

  // ---- the coordinators ----
  // `by` nothing: one coordinator at a time, no leases.
  void sent(std::optional<writer_number> by, runtime::outgoing_call const& call);
  // It leaves the process now, having waited or not.
  void left(std::optional<writer_number> by, runtime::outgoing_call const& call);
  // By a coordinator that was told to stop before.
  void sent_while_stopping(runtime::outgoing_call const& call);
  // It has ended in good order: nothing is its own any more.
  void stopped(writer_number of);
  // It was told to stop, had nothing to wait for any more, and did not end.
  void never_quiet(writer_number of);
  // A participant was told that its report has been taken; or that it came too late, and was recorded as that.
  void report_acknowledged(runtime::outgoing_call const& call, runtime::call_answer const& reported);
  void report_came_late(runtime::outgoing_call const& call);
  void start_acknowledged(std::string const& saga, std::string const& key, saga_id id);
  void action_acknowledged(operator_request const& what);
  void told_ended(saga_view const& as);
  void viewed(saga_view const& as);

  // ---- the participants ----
  // `value`: what the answer holds; `read` and `seen`: what the request says of earlier answers, where it does.
  struct delivery {
    saga_id saga;
    std::string step;
    operation op = operation::act;
    deed what = deed::applied;
    std::int64_t value = -1;
    std::optional<std::int64_t> read, seen;
    bool fits = true;  // its answer is as the definition wants it

    delivery() = default;
  };
  void delivered(delivery const& what);

  // ---- the end ----
  bool everything_ended() const noexcept { return open_ == 0; }
  // Every saga must have come to its end, and what is in the participants' tables must be what that end says.
  void finish(shared_store const& store);

  std::vector<violation> const& violations() const noexcept { return found_; }
  std::uint64_t sagas() const noexcept { return cases_.size(); }
  std::uint64_t checks() const noexcept { return checks_; }
  std::map<saga_status, std::uint64_t> ends() const;
  // Ids of those that are parked or paused now, oldest first: for the operators of the calm phase.
  std::vector<saga_id> at_rest() const;
  blueprint const* definition_of(saga_id id) const;
  std::uint64_t parkings() const noexcept { return parkings_; }

 private:
  struct step_facts;
  struct saga_case;

  bool has_heard(runtime::outgoing_call const& of, event_kind outcome);
  void wrong(std::string_view checker, saga_case const& of, std::string const& what);
  void wrong(std::string_view checker, std::string const& what);
  saga_case* find(saga_id id);
  step_facts& facts(saga_case& of, std::string const& path);

  // judge_commits.cpp
  void check_writer(writer_number by, epoch under, journal_batch const& what);
  void open(saga_start const& start);
  void record(writer_number by, journal_batch const& batch, journal_record const& one);
  void note_event(saga_case& of, event const& what);
  void note_step_event(saga_case& of, event const& what);
  void note_lock(saga_case& of, event const& what);
  void turn(saga_case& of);
  void check_row(saga_case& of, journal_batch const& batch);
  void check_rest(saga_case& of);
  void check_parking(saga_case& of, journal_batch const& batch);

  // judge_sends.cpp
  void check_owner(saga_case& of, std::optional<writer_number> by, runtime::outgoing_call const& call);
  void check_action(saga_case& of, step_plan const& plan, runtime::outgoing_call const& call);
  void check_before(saga_case& of, step_plan const& plan);
  void check_undo(saga_case& of, step_plan const& plan, runtime::outgoing_call const& call);
  void check_pace(saga_case& of, step_plan const& plan, step_facts const& known);

  // judge_end.cpp
  void finish_one(saga_case& of, shared_store const& store);
  void check_log(saga_case& of, stored_saga const* stored);
  void check_effects(saga_case& of, step_plan const& plan);
  bool surely_no_effect(saga_case const& of, step_plan const& plan, step_facts const& known) const;

  std::map<std::string, blueprint const*, std::less<>> definitions_;
  bool steady_;
  std::function<duration()> now_;
  std::function<void(saga_id, event const&)> trace_;
  std::map<std::pair<std::string, std::string>, start_facts> expected_;
  std::unordered_map<saga_id, std::unique_ptr<saga_case>> cases_;
  std::vector<saga_case*> in_order_;
  std::map<std::pair<std::string, std::string>, std::set<saga_id>> answered_;
  std::map<std::pair<std::string, std::string>, saga_id> holders_;
  struct writer_facts {
    atone::epoch epoch;
    bool alive = false;

    writer_facts() = default;
  };
  struct lease_facts {
    std::optional<writer_number> writer;
    atone::epoch epoch;

    lease_facts() = default;
  };
  std::map<std::string, saga_id, std::less<>> locks_;  // of the lock's value: who has it, by what is durable
  std::vector<std::string> passed_on_;                 // whose holders end in the batch that is judged
  std::map<std::string, std::set<std::pair<timestamp, saga_id>>, std::less<>> lock_queues_;
  std::map<writer_number, writer_facts> writers_;
  std::map<shard, lease_facts> leases_;
  std::set<saga_id> refused_;
  std::uint64_t open_ = 0;
  std::uint64_t checks_ = 0;
  std::uint64_t parkings_ = 0;
  std::vector<violation> found_;
};

}  // namespace atone::simulation
