// One coordinator: the real engine, and behind its ports what the coordinator library has threads and sockets for. A node can crash between
// any two of its happenings, stand still and go on, lose its leases, and come back as a new process under its old name.
// Thread rules: one thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine.hpp"
#include "steward.hpp"
#include "world.hpp"

namespace atone::simulation {

class node final : public clock_source,
                   public random_source,
                   public id_source,
                   public runtime::caller,
                   public runtime::batch_writer,
                   public runtime::store_lookup,
                   public runtime::scheduler,
                   public runtime::probe,
                   public runtime::tenure {
 public:
  node(world& in, std::uint32_t number);
  ~node() override;

  // ---- its life ----
  void boot();
  void crash();
  bool up() const noexcept { return engine_ != nullptr && ready_; }
  bool frozen() const noexcept { return frozen_; }
  // Something that is to happen in this process: now, after it has thawed, or never when it has crashed since.
  void happen(happening what);
  void after(duration wait, std::function<void()> what);
  owner self() const noexcept { return owner{number_, life_}; }
  // Everything of this process from here on is lost; its crash comes as soon as nothing of it runs.
  void doom() noexcept { doomed_ = true; }
  bool doomed() const noexcept { return doomed_; }
  // Told to stop: nothing new is sent, what is out is waited for, shards go to the others; then the process ends, and is started again.
  void stop();
  bool stopping() const noexcept { return stopping_; }
  void freeze(duration time);
  void thaw();

  runtime::engine& engine() { return *engine_; }
  std::uint32_t number() const noexcept { return number_; }
  world& in() noexcept { return world_; }
  std::optional<writer_number> writer() const noexcept { return leased() ? std::optional{writer_} : std::nullopt; }
  writer_number writer_of_store() const noexcept { return writer_; }
  epoch driving_under() const noexcept { return epoch_; }
  bool leased() const noexcept { return world_.settings().leased; }
  // A clock of durations that never stops; each machine's runs at a rate of its own.
  duration boot_time() const;
  void observe_clock(timestamp store_time);
  // Behind everything that was committed before.
  void hand_over(std::vector<shard_move> moves, std::function<void(result<void>)> done);

  // ---- the engine's ports ----
  timestamp now() override;
  std::uint64_t next() override { return world_.delays().next(); }
  saga_id next_saga(timestamp) override { return world_.next_saga(); }
  void send(runtime::outgoing_call what, runtime::caller::completion done) override;
  runtime::given_up abandon(saga_id saga, step_path const& step, operation op) override;
  runtime::given_up take_back(saga_id saga, step_path const& step, operation op) override;
  void halt() override { outs_.clear(); }
  void commit(journal_batch batch, runtime::batch_writer::completion done) override;
  void commit_sql(sql_statement statement, journal::answer_to_batch on_success, sql_completion done) override;
  void last_output(std::string saga_name, step_path step, std::string key,
                   std::function<void(result<std::optional<last_output_row>>)> then) override;
  void holder_of(std::string saga_name, business_key key, std::function<void(result<std::optional<key_holder>>)> then) override;
  void reload(saga_id saga, std::function<void(result<std::optional<open_saga>>)> then) override;
  void load(std::vector<saga_place> which, std::function<void(result<std::vector<open_saga>>)> then) override;
  void defer(std::function<void()> work) override;
  void wake_at(std::optional<timestamp> due) override;
  void stopped_driving(error const& why) override;
  bool holds() const override;
  void resign() override;

 private:
  // A request between the engine and the wire, or on its way.
  struct call_out {
    std::uint64_t token = 0;
    runtime::outgoing_call what;
    runtime::caller::completion done;
    bool held = false;

    call_out() = default;
  };
  using batch_ptr = std::shared_ptr<journal_batch>;
  std::optional<open_saga> whole_saga(saga_id saga) const;
  // One batch on its way to the store.
  struct transaction {
    std::uint64_t life = 0;
    writer_number writer;
    epoch under;
    std::uint64_t number = 0;
    batch_ptr batch;
    runtime::batch_writer::completion done;
    duration asked{};
    bool again = false;

    transaction() = default;
  };

  void load_and_go();
  void end();
  void lose_patience();
  void look_into_inbox();
  void report_later(runtime::outgoing_call const& what, participants::reply const& reply);
  void leave(std::uint64_t token);
  void put_on_wire(runtime::outgoing_call const& what, std::uint64_t token);
  void call_local(runtime::outgoing_call const& what, std::uint64_t token);
  void answer(std::uint64_t token, runtime::call_answer with);
  void answer_after(duration wait, std::uint64_t token, runtime::call_answer with);
  std::vector<call_out>::iterator find_out(std::uint64_t token);
  std::vector<call_out>::iterator find_out(saga_id saga, step_path const& step, operation op);
  void try_commit(batch_ptr const& batch, runtime::batch_writer::completion const& done, bool again);
  void arrive_at_store(transaction const& what);

  world& world_;
  std::uint32_t const number_;
  std::uint64_t life_ = 0;
  bool ready_ = false;
  bool frozen_ = false;
  bool doomed_ = false;
  bool stopping_ = false;
  bool ended_ = false;                         // in good order
  bool quiet_ = false;                         // the engine has said that it may end
  std::uint64_t activity_ = 0;                 // counts commits, their ends, and standstills: whether there were any
  int writing_ = 0;                            // batches that the engine has not heard of yet
  std::deque<std::function<void()>> backlog_;  // while it stands still
  int drift_;                                  // of its clock of durations, in thousandths
  duration clock_offset_{};
  timestamp told_;
  std::uint64_t alarm_ = 0;
  std::uint64_t tokens_ = 0;
  writer_number writer_;
  epoch epoch_;
  std::uint64_t last_number_ = 0;
  std::vector<call_out> outs_;
  std::unique_ptr<runtime::engine> engine_;
  std::unique_ptr<steward> steward_;
};

}  // namespace atone::simulation
