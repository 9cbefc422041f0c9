// The engine: drives the machines of all open sagas against the ports. An event is applied in memory and gathered with the
// others into one batch; while a batch is being committed the next one gathers (never a timer for it); only after its commit do
// an event's commands leave and is anyone told. So a crash at any line loses nothing that was told, and what was
// sent is known from the journal.
//
// Thread rules: one thread; every callback handed in is called on it, after the member function has returned.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <atone/coordinator.hpp>

#include "ports.hpp"
#include "rest_table.hpp"
#include "timer_table.hpp"

namespace atone::runtime {

struct engine_settings {
  std::uint32_t open_max = 100'000;  // in memory; above it starts are refused
  std::size_t queue_max = 200'000;   // records gathered and not yet being committed; above it starts are refused
  std::uint16_t shards = 1;
  bool leased = false;             // shards come by adopt() and go by let_go(); else all are held from the start
  std::uint32_t crashes_max = 3;   // crashes in a row while a local handler works on one saga: it is parked
  std::uint32_t suspects_max = 4;  // sagas whose local call was under way at a crash and that are called at the same time again
  // A saga leaves memory where nothing of it is under way but timers, and the first of them is due in so long at least.
  duration rest_least{std::chrono::seconds{60}};
  // Bounds of one turn or transaction. The simulation draws them small, so that what comes after a bound is reached too.
  std::size_t timers_a_turn = 256;                           // due timers handled before others get their turn
  std::size_t commands_a_turn = 64;                          // that leave before others get theirs
  std::size_t wakes_a_read = 32;                             // sagas that come back to memory together
  std::size_t records_a_batch = journal_batch::records_max;  // and a few more, of the event that fills it; never above records_max
  std::map<std::string, std::string> addresses;

  engine_settings() = default;
};

struct engine_ports {
  clock_source& clock;
  random_source& random;
  id_source& ids;
  caller& calls;
  batch_writer& writer;
  store_lookup& lookup;
  scheduler& turns;
  atone::runtime::probe& probe;
  atone::runtime::tenure& lease;
};

class engine {
 public:
  template <class T>
  using callback = std::function<void(result<T>)>;

  engine(engine_settings settings, engine_ports ports);
  ~engine();
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;

  void add_definition(definition_ptr definition);
  definition_ptr find_definition(std::string_view name, std::optional<definition_version> version) const;

  // Takes sagas over from the store, before go(). Where one's replay fails, it is parked alone; those that rest stay in the store until
  // they wake.
  void recover(loaded_sagas&& all);
  // Begins to drive under this epoch: what was under way in the recovered sagas goes out again.
  void go(epoch as);

  // ---- shards (engine_shards.cpp) ----
  // Sagas of shards that have become this coordinator's: as recover(), and once it drives, what was under way goes out again. Those under
  // way here already are passed over.
  void adopt(std::vector<open_saga>&& sagas);
  void adopt(std::vector<resting_saga> const& sagas);
  // The epochs that requests of these shards' sagas carry; call it before their sagas are adopted.
  void lease_epochs(std::vector<shard> const& shards, std::vector<epoch> const& epochs);
  // From now on new sagas begin in these shards too; call it when their open sagas have been adopted.
  void hold(std::vector<shard> const& shards);
  // The shards are to go to another coordinator: nothing new is sent for their sagas, answers to what is out are still taken.
  void leave(std::vector<shard> const& shards);
  // Of these, the shards that have become quiet: their sagas are dropped from memory, everything about them is durable, and whoever
  // waits for one is told to look into the store. The others stay as they are.
  std::vector<shard> let_go(std::vector<shard> const& shards);
  // Requests to participants that are out for sagas of shards that leave are given up: the next owner sends them again under their keys, as
  // after a take-over. A local handler at work is not: two of them would run at once.
  void give_up_requests(std::vector<shard> const& shards);
  // They stay after all: what was withheld goes out.
  void keep(std::vector<shard> const& shards);
  bool holds(shard one) const { return !settings_.leased || held_.contains(one); }
  // The lease stands again (tenure): what was withheld meanwhile goes out.
  void lease_renewed();

  void start(start_request what, callback<started> then);
  // A start that another program asked for inside its own transaction (atone.start); the request is done with in the transaction
  // that starts its saga. One that can never start is taken off with an alert; repeats of one that is under way are passed over.
  void start_from_inbox(inbox_start const& what);
  // Something that a person should see, from outside the machines.
  void raise(alert_row what);
  void act(operator_request what, callback<saga_view> then);
  // Nothing: not under way here; look into the store.
  void view(saga_id id, callback<std::optional<saga_view>> then);
  // Until it ended or is parked. Returns a number for end_wait(); 0 when it was answered without waiting.
  std::uint64_t wait(saga_id id, callback<std::optional<saga_view>> then);
  void end_wait(saga_id id, std::uint64_t number);
  // An answer that did not come as the reply to a request. `conflict` when nobody waits for it; it is recorded all the same.
  void report(saga_id id, step_path step, operation op, attempt n, call_answer answer, callback<void> then);

  void on_wake();
  // A local handler has been bound: what waited for it goes out.
  void handlers_changed();
  // Calls that a process before this one had out and that wait for their handler, by its name.
  std::map<std::string, std::size_t> unserved() const;
  // No new starts and sends; answers to what is out are still journalled. `quiet` is called once nothing is out and nothing
  // waits for its commit.
  void stop(std::function<void()> quiet);
  // This coordinator is not the owner any more, as if a write had been refused.
  void lose(error const& why) { stop_driving(why); }
  // The last word: whoever still waits is told why, and nothing is driven any more.
  void shut(error const& why);
  bool idle() const noexcept;  // nothing gathered and nothing being committed
  bool driving() const noexcept { return driving_; }
  bool under_way(saga_id id) const noexcept { return open_.contains(id) || resting_.contains(id); }
  engine_figures figures() const noexcept;

 private:
  struct instance;
  struct gathering;
  struct following;

  using waits = std::vector<std::pair<std::uint64_t, callback<std::optional<saga_view>>>>;
  // One that is to be read.
  struct nap {
    saga_place place;
    std::uint64_t life = 0;
    bool alone = false;  // the last read failed with it among others
  };

  instance* find(saga_id id);
  // engine.cpp
  void schedule_flush();
  void flush();
  void committed(std::shared_ptr<gathering> sent, result<isolating_report> outcome);
  void follow();
  void tell_all(following const& of);
  void stop_driving(error const& why);
  void tell_quiet();
  error not_driving() const;  // what whoever asks is told
  void tell(saga_id id, std::function<void(error const*)> then);

  // engine_start.cpp
  bool begin(start_request what, callback<started> then);
  result<std::unique_ptr<instance>> prepare(start_request const& what);
  result<void> place(instance& of, definition const& bound_to, json::value const& input) const;
  void refuse_start(start_request const& what, callback<started> then, error why);

  // engine_gather.cpp
  result<void> deliver(instance& of, event& what);
  void stamp(instance& of, event& what);
  void gather(instance& of, event what, std::vector<command> commands);
  void gather_applied(instance& of, std::vector<command> commands, timestamp at);
  void gather_command(instance& of, command made, timestamp at);
  void gather_row(instance& of);
  void cap_gathering();
  void forget_gathered(saga_id id, error const& why);
  bool has_gathered(instance const& of) const noexcept;  // an event of it that is not durable yet
  std::shared_ptr<gathering> next_gathering();
  std::size_t queued() const noexcept;  // records

  // engine_settle.cpp: after a commit
  void settle_losers(commit_report const& report);
  void settle_starts(gathering& sent);
  void settle_foreign(gathering& sent, instance& of);
  void take_all_unsent(instance& of);
  void settle_rejected(gathering& sent, std::vector<rejected_saga> const& rejected);
  void give_up_storing(instance& of, std::string why);
  void park_reloaded(saga_id id, std::string why, result<std::optional<open_saga>> found);
  void notify(saga_id id);
  void drop(saga_id id);

  // engine_calls.cpp
  void perform(saga_id id, command what);
  void arrive(std::uint64_t number, saga_id id);
  bool leaving(instance const& of) const;
  bool take_unsent(saga_id id, step_path const& step, operation op);
  void send_withheld(std::function<bool(instance const&)> const& which);
  static bool ours(instance const& of);
  bool quiet(instance const& of) const;
  bool settled(instance const& of) const;
  void call_over(instance* of, step_path const& step, operation op);
  void send_call(instance& of, call_command call);
  void give_up_call(saga_id id, step_path const& step, operation op);
  void take_back_call(saga_id id, step_path const& step, operation op);
  void send_now(instance& of, call_command call);
  void next_suspects();
  void suspect_done(saga_id id, step_path const& step, operation op);
  void send_sql(instance& of, call_command const& call);
  void sql_ended(saga_id id, call_command const& call, event done, result<batch_writer::sql_outcome> outcome);
  void sql_failed(saga_id id, call_command const& call, result<batch_writer::sql_outcome> outcome);
  void look_up(instance& of, last_output_command const& what);
  result<void> answered(saga_id id, step_path const& step, operation op, attempt n, call_answer answer, bool again);
  void record_late(instance& of, event what);
  void when_free(instance& of, std::function<void()> work);
  void next_deferred(saga_id id);
  static bool was_resent(instance const& of, step_path const& step, operation op);
  void fire(armed_timer const& timer);
  void set_alarm();

  // engine_locks.cpp
  void want_lock(instance& of);
  void has_lock_still(instance& of, std::vector<event> const& history);
  void leave_lock(instance const& of);
  void leave_queue(instance const& of);
  void grant_soon(std::string const& lock);
  void grant_some();
  void grant(std::string const& lock);
  void grant_all();

  // engine_rest.cpp
  using woken = std::function<void(error const*)>;  // null: the saga is in memory, or not here at all any more
  bool rests(saga_id id) const { return resting_.contains(id); }
  std::optional<timestamp> wake_of(instance const& of) const;
  static std::optional<timestamp> rests_until(instance const& of);
  void rest_soon(instance const& of);
  void rest_some();
  void try_rest(saga_id id);
  void lay_down(resting_saga const& of);
  void set_to_wake(bed const& one);
  bed* sleeper_of(wake_queue::entry const& entry);
  void wake(saga_id id, woken then);
  void queue_waking(saga_id id);
  void wake_due();
  void read_waking();
  void awake(std::vector<nap> const& which, result<std::vector<open_saga>> found);
  void get_up(open_saga&& of);
  void stay_asleep(nap const& which, error const& why);
  void forget_resting(std::set<shard> const& shards);
  std::optional<timestamp> next_wake();

  // engine_recover.cpp
  void recover(open_saga&& of);
  bool replay(instance& of, open_saga const& from);
  void tell_broken(instance& of);
  void resume(instance& of);
  void park(instance& of, std::string why);
  void resume_call(instance& of, call_command const& call);
  static void take_back_the_future(instance const& of, command& what);
  void grant_an_attempt(command& what, std::vector<command> const& all) const;

  // engine_operators.cpp
  result<event> operator_event(instance const& of, operator_request const& what) const;

  saga_view view_of(instance const& of) const;
  saga_row row_of(instance const& of) const;
  static std::pair<saga_status, std::string const&> standing(instance const& of);

  engine_settings settings_;
  engine_ports ports_;
  epoch epoch_;
  bool driving_ = false;
  bool stopping_ = false;
  std::optional<error> lost_;  // why nothing is driven any more
  std::function<void()> quiet_;
  bool flush_scheduled_ = false;
  bool committing_ = false;
  std::map<std::string, std::map<definition_version, definition_ptr>, std::less<>> definitions_;
  std::unordered_map<saga_id, std::unique_ptr<instance>> open_;
  std::uint64_t batches_ = 0;   // made so far; before gathering_, which takes a number
  std::uint64_t durable_ = 0;   // the last one committed
  std::uint64_t followed_ = 0;  // the last one whose commands have all left
  std::shared_ptr<gathering> gathering_;
  std::deque<following> following_;  // durable, but not all of its commands have left yet; oldest first
  bool follow_scheduled_ = false;
  std::deque<std::shared_ptr<gathering>> full_;  // as large as a transaction may be; committed before gathering_
  std::map<saga_id, bool> arriving_;             // being read from the store -> it was dropped here meanwhile, so what was read is old
  std::map<shard, epoch> epochs_;                // of the leases, where the store has them
  std::set<shard> held_;                         // where the store has leases
  std::set<shard> leaving_;                      // still driven here, soon another's
  std::deque<std::pair<saga_id, call_command>> withheld_;  // calls that wait until the lease, or the shard's stay, is sure
  std::uint64_t waits_ = 0;
  std::uint64_t lives_ = 0;
  std::set<std::uint64_t> inbox_;  // requests that are being started, or wait for their definition
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> undefined_;  // name -> requests that wait for it
  std::deque<std::pair<saga_id, call_command>> suspects_;                     // local calls that were under way at a crash
  struct call_in_lane {
    saga_id saga;
    step_path step;
    operation op;
    attempt n;
    bool marked;
    friend bool operator==(call_in_lane const&, call_in_lane const&) = default;
  };
  std::vector<std::pair<saga_id, call_command>> unserved_;  // of them, those whose handler is not bound
  std::vector<call_in_lane> suspects_out_;
  // Of one lock's value: who has it, and who waits, the oldest start first.
  struct lock_queue {
    std::optional<saga_id> holder;
    std::set<std::pair<timestamp, saga_id>> waiting;
  };
  std::unordered_map<std::string, lock_queue> locks_;  // those that somebody has or wants
  std::set<std::string> to_grant_;                     // of them, those to be looked at in the next turn
  bool grants_scheduled_ = false;
  timer_table timers_;
  rest_table resting_;
  wake_queue wakes_;                              // of those that wake by themselves
  std::map<saga_id, std::vector<woken>> waking_;  // being woken, and who asked
  std::deque<nap> to_wake_;                       // of them, those whose read has not begun
  std::map<saga_id, waits> resting_waits_;        // who waits for the end of one that rests
  bool reading_waking_ = false;
  std::deque<saga_id> to_rest_;
  bool rests_scheduled_ = false;
  std::uint64_t woken_in_ = 0;  // the batch whose commands are of those that were woken last
  std::optional<timestamp> alarm_;
  engine_figures figures_;
};

}  // namespace atone::runtime
