// The store that simulated coordinators share: what the PostgreSQL store keeps and how it decides (membership.hpp, journal.hpp), in memory,
// and without any waiting. Whoever simulates decides when a call arrives, whether it is answered, and what was lost on the way.
// Thread rules: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <atone/journal.hpp>

namespace atone::simulation {

// One saga with all that is kept under it.
struct stored_saga {
  saga_row row;
  std::vector<event> events;
  std::map<trace_id, compensation_entry> compensations;
  std::vector<operator_action_row> actions;

  stored_saga() = default;
};

// Hears what the store has decided, at the moment it has.
class store_observer {
 public:
  virtual ~store_observer() = default;
  virtual void committed(writer_number by, epoch under, journal_batch const& what, std::vector<start_loser> const& losers) = 0;
  virtual void epoch_raised(writer_number of, epoch to, bool alive) = 0;
  virtual void shard_moved(shard which, std::optional<writer_number> to, epoch as) = 0;
  // A start that another program asked for was taken off, and no saga has its key.
  virtual void request_lost(std::string const& saga, std::string const& key) {
    static_cast<void>(saga);
    static_cast<void>(key);
  }
};

class shared_store {
 public:
  shared_store(std::uint16_t shards, store_observer& told) : leases_(shards), told_(told) {}

  void clock(std::function<timestamp()> now) { now_ = std::move(now); }
  // A saga whose data is refused as bad_data, until it is parked for that, or all are forgiven.
  void reject(saga_id saga) { rejected_.insert(saga); }
  void forgive() { rejected_.clear(); }

  // ---- journal ----
  std::pair<writer_number, epoch> take_over(node_id const& node);
  // `extent`: whether commit_isolating has taken a batch apart, whose requests are then taken off in one of their own.
  enum class extent : std::uint8_t { whole, part };
  result<commit_report> commit(writer_number by, epoch under, journal_batch const& what, batch_number number, extent of = extent::whole);
  std::vector<open_saga> load_open(std::vector<shard> const& of) const;
  result<void> hand_over(writer_number by, epoch under, std::vector<shard_move> const& moves);
  std::vector<inbox_start> take_inbox(std::vector<shard> const& of) const;
  // atone.start(saga, key, input), in a transaction of somebody's that is durable now.
  void ask_start(shard waits_in, std::string saga, std::string key, std::string input);
  // What has become of the starts that were asked for under this key, where no saga has it.
  enum class request_state : std::uint8_t {
    waiting,  // one is in the inbox
    refused,  // each was taken off, and of each somebody was told
    gone,     // one was taken off, and nobody was told
  };
  request_state state_of_request(std::string const& saga, std::string const& key) const;
  bool inbox_empty() const noexcept { return inbox_.empty(); }
  std::uint16_t shards() const noexcept { return static_cast<std::uint16_t>(leases_.size()); }

  // ---- membership ----
  result<roster> renew(writer_number by, epoch under, duration for_time);
  bool fence(member const& as_seen);
  // This writer drives nothing any more; what it still holds is free.
  void leave(writer_number by, epoch under);
  result<std::vector<shard>> claim(writer_number by, epoch under, std::size_t most);

  // ---- reading ----
  stored_saga const* find(saga_id id) const;
  std::optional<saga_id> holder(std::string const& saga_name, std::string const& key) const;
  std::optional<content_hash> body_of(std::string const& saga_name, std::string const& key) const;
  std::optional<last_output_row> last_output(std::string const& saga_name, step_path const& step, std::string const& key) const;
  std::map<saga_id, stored_saga> const& sagas() const noexcept { return sagas_; }

 private:
  struct writer_row {
    node_id node;
    atone::epoch epoch;
    bool alive = false;
    std::uint64_t progress = 0;
    duration lease{};
    batch_number last;
    commit_report report;

    writer_row() = default;
  };
  struct lease {
    std::optional<writer_number> writer;
    atone::epoch epoch;

    lease() = default;
  };
  struct claim_of_key {
    saga_id holder;
    content_hash body;

    claim_of_key() = default;
  };
  using key_name = std::pair<std::string, std::string>;
  using output_name = std::tuple<std::string, std::string, std::string>;

  writer_row& row_of(writer_number of) { return writers_.at(of.value() - 1U); }
  bool current(writer_number by, epoch under) { return row_of(by).epoch == under && row_of(by).alive; }
  epoch next_epoch() { return epoch{++epochs_}; }
  std::vector<start_loser> find_losers(journal_batch const& what) const;
  result<void> check(journal_batch const& what) const;
  bool refuses(saga_id saga) const { return !rejected_.empty() && rejected_.contains(saga); }
  void apply(journal_batch const& what, extent of);
  void take_off(std::uint64_t number, extent of);
  void move(shard which, std::optional<writer_number> to);

  std::vector<lease> leases_;
  store_observer& told_;
  std::function<timestamp()> now_;
  std::uint64_t epochs_ = 0;
  std::vector<writer_row> writers_;
  std::map<saga_id, stored_saga> sagas_;
  std::map<key_name, claim_of_key> keys_;
  std::map<output_name, last_output_row> outputs_;
  struct waiting {
    shard home;
    std::optional<saga_id> arrived;  // nothing: a start that was asked for
    std::string saga, key, input;

    waiting() = default;
  };
  std::map<std::uint64_t, waiting> inbox_;
  std::uint64_t inbox_numbers_ = 0;
  std::map<key_name, std::vector<std::uint64_t>> requests_;
  std::unordered_set<std::string> refusals_;  // kinds of alerts: "start refused: 7"
  std::unordered_set<saga_id> rejected_;
};

// The journal of one writer: what commit_isolating works with.
class store_session final : public journal {
 public:
  store_session(shared_store& of, writer_number by, atone::epoch under, journal_batch const& whole)
      : of_(of), by_(by), under_(under), whole_(whole) {}

  result<epoch> take_over(node_id const&) override { return error{errc::unsupported, "the world takes over"}; }
  result<commit_report> commit(journal_batch const& batch, batch_number number) override {
    return of_.commit(by_, under_, batch, number, &batch == &whole_ ? shared_store::extent::whole : shared_store::extent::part);
  }
  result<commit_report> commit_with_sql(sql_statement const&, answer_to_batch const&, batch_number) override {
    return error{errc::unsupported, "no SQL in this world"};
  }
  result<void> load_open(std::vector<shard> const& of, saga_sink const& sink) override {
    for (auto& one : of_.load_open(of)) sink(std::move(one));
    return {};
  }
  result<void> publish(definition_row const&) override { return {}; }
  result<timestamp> now() override { return timestamp{}; }
  std::uint16_t shards() const override { return of_.shards(); }

 private:
  shared_store& of_;
  writer_number by_;
  atone::epoch under_;
  journal_batch const& whole_;  // that is committed, in one piece or in parts
};

}  // namespace atone::simulation
