// The journal port: the durable log behind the coordinator. Three stores stand behind it (memory, SQLite, PostgreSQL)
// and pass one test suite (tests/integration/store).
//
// Rules every store keeps:
//  - a batch is one transaction: all of it or nothing, durable (synced) before commit() returns success;
//  - fencing: a commit under an epoch that is no longer the store's is refused as errc::fenced, at the END of the
//    transaction, so that nothing stale can slip in after a take-over;
//  - commit() is idempotent by (epoch, batch number): after errc::outcome_unknown or errc::unavailable the caller repeats
//    the same batch under the same number, and gets the report of the one that took effect;
//  - payloads are kept byte for byte.
//
// Thread rules: a `journal` (the writing side) belongs to one thread at a time; calls block. A `reader` likewise; make
// one for each thread. A store object may hand out both and outlives them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/event.hpp>
#include <atone/ids.hpp>
#include <atone/membership.hpp>
#include <atone/records.hpp>
#include <atone/result.hpp>
#include <atone/retention.hpp>
#include <atone/time.hpp>

namespace atone {

// A new saga in a batch. When `row.key` is not empty the key is claimed in the same transaction; whoever claimed it
// first wins, and a loser leaves the batch with all its records (report.losers).
struct saga_start {
  static constexpr std::size_t key_bytes_max = 2048;  // of row.key, which is UTF-8 without NUL; other keys are bad_data on every store

  saga_row row;
  content_hash body;  // hash of the canonical input: same key and other body is a conflict

  saga_start() = default;
};

// One event on its way into a saga's history.
struct journal_record {
  atone::shard home;
  saga_id saga;
  atone::event event;

  journal_record() = default;
};

// The newest state of a saga's row; at most one a saga in a batch.
struct saga_change {
  saga_row row;  // whole: the store updates status, updated_at, ended_at, cause, output, crashes, last

  saga_change() = default;
};

// What one transaction writes. Order inside: starts, records, changes, the rest, fence.
struct journal_batch {
  static constexpr std::size_t records_max = 4096;  // above it commit() answers exhausted

  std::vector<saga_start> starts;
  std::vector<journal_record> records;
  std::vector<saga_change> changes;
  std::vector<compensation_entry> compensations;
  std::vector<alert_row> alerts;
  std::vector<last_output_row> outputs;
  std::vector<operator_action_row> actions;
  std::vector<std::uint64_t> taken;  // numbers of requests (journal::take_inbox) that are done with
  // Shards of starts in this batch that another coordinator drives: it finds an arrival in its inbox, in the same transaction.
  std::vector<shard> foreign;

  journal_batch() = default;
  bool empty() const noexcept {  // nothing to write; committing it is allowed, and shows that the store takes writes
    return starts.empty() && records.empty() && changes.empty() && compensations.empty() && alerts.empty() && outputs.empty() &&
           actions.empty() && taken.empty();
  }
};

// A start whose business key was already claimed.
struct start_loser {
  saga_id refused;    // the id that was offered
  saga_id existing;   // the saga that holds the key
  content_hash body;  // the body it was started with

  start_loser() = default;
};

// What a commit that took effect says; a repeat of the same batch number is told the same.
struct commit_report {
  std::vector<start_loser> losers;  // in the batch; none of their records was written
  timestamp database_time;          // by the store's clock, read inside the transaction

  commit_report() = default;
};

// A saga with everything needed to go on with it. One that rests (saga_row::wake_at) is known by its row alone until it is asked for
// (journal_reader::load).
struct open_saga {
  saga_row row;
  std::vector<event> events;                      // from 1 without gaps
  std::vector<compensation_entry> compensations;  // looked up before anything is compensated

  open_saga() = default;
};

// What the `sql` step runs, in one transaction with the records that say so.
struct sql_statement {
  std::string text;        // one statement with named parameters (":user")
  std::string parameters;  // JSON object with their values

  sql_statement() = default;
};

// A saga that another program asked for inside its own transaction (PostgreSQL: select atone.start(saga, key, input)), or one that a
// coordinator started for a shard that it does not drive.
struct inbox_start {
  static constexpr std::uint32_t take_max = 1000;

  std::uint64_t number = 0;        // names the request in journal_batch::taken
  std::optional<saga_id> arrived;  // is in the store already; the rest is empty then
  std::string saga_name;
  business_key key;   // never empty: makes starting it twice harmless
  std::string input;  // JSON, byte for byte
  timestamp requested_at;

  inbox_start() = default;
};

// A shard that passes from one coordinator to another; `to` nothing: to whoever claims it.
struct shard_move {
  atone::shard shard;
  std::optional<writer_number> to;

  shard_move() = default;
  shard_move(atone::shard which, std::optional<writer_number> taker) : shard(which), to(taker) {}
};

// The writing side. Of one node there is one writer at a time; where a store serves several nodes (store::open_membership), each drives
// the shards whose leases it holds.
class journal {
 public:
  virtual ~journal() = default;

  // Takes the store over, or, where several nodes may write, what belongs to this node: raises the epoch, so that whoever wrote before is
  // fenced; batch numbers begin again at 1. Of two epochs of a store the later is higher, whichever node has it. Call first, and again
  // after errc::fenced only when this process is meant to be the owner. Each call is a take-over of its own, so a repeat after a lost
  // answer is harmless. Errors: unavailable; corrupt.
  virtual result<epoch> take_over(node_id const& node) = 0;

  // Commits one batch under the epoch of the last take_over. `number` is 1 for the first batch of an epoch, then the next one each time;
  // a batch that was refused has not used its number. Errors: fenced (also before any take_over); bad_data (this batch's data is refused;
  // commit_isolating finds the culprit); exhausted (records_max); invalid_argument (a number out of turn); unavailable and
  // outcome_unknown (repeat with the same number); corrupt.
  virtual result<commit_report> commit(journal_batch const& batch, batch_number number) = 0;

  // Runs the user's statement and commits `on_success(answer)` in ONE transaction with it: exactly once. The answer is the
  // JSON {"rows": affected, "row": first row or null}. `on_success` is called inside the transaction, again when that is repeated, and not
  // at all when an earlier try under this number turns out to have taken effect. The statement holds up every other saga while it runs,
  // so its locks and its time are bounded (a few seconds; docs of each store).
  // Errors as commit(), and for what the user's statement itself, or a constraint it deferred, fails with while the store goes on
  // answering, whatever the database calls it:
  //   statement_failed  it may pass: a limit of locks or time, a conflict with other transactions, a resource, another server it needs
  //   bad_data          anything else: it fails again as it stands
  // Nothing is written then, and the number is not used. A connection lost meanwhile is commit()'s: unavailable or outcome_unknown.
  // unsupported: this store runs no SQL.
  using answer_to_batch = std::function<journal_batch(std::string_view answer)>;
  virtual result<commit_report> commit_with_sql(sql_statement const& statement, answer_to_batch const& on_success, batch_number number) = 0;

  // Every saga of these shards that has not ended, parked ones included, in chunks, for taking over; `sink` is called for each, once. Of
  // those that rest only the rows are read: there may be very many. After an error some have been handed out and the rest not. Needs no
  // take_over.
  using saga_sink = std::function<void(open_saga&&)>;
  virtual result<void> load_open(std::vector<shard> const& of, saga_sink const& sink) = 0;

  // Gives shards of this writer away, after everything that was committed before. Their sagas must not be driven here any more. Repeating
  // it is harmless. Errors: fenced; unavailable; outcome_unknown. A store with one writer at a time has nobody to give to: unsupported.
  virtual result<void> hand_over(std::vector<shard_move> const& moves) {
    static_cast<void>(moves);
    return error{errc::unsupported, "this store has one coordinator at a time"};
  }

  // Stores a definition; the same name and version with the same content (by hash) is a success, with other content a conflict. Needs no
  // take_over, and is not fenced.
  virtual result<void> publish(definition_row const& row) = 0;

  // Requests that wait for whoever drives these shards, oldest first, with numbers above `after`, at most `limit` (inbox_start::take_max).
  // They stay until a batch that names them in `taken` commits, best the one that starts their sagas; until then every call returns them
  // again. A store without such requests has none.
  virtual result<std::vector<inbox_start>> take_inbox(std::vector<shard> const& of, std::uint32_t limit, std::uint64_t after) {
    static_cast<void>(of);
    static_cast<void>(limit);
    static_cast<void>(after);
    return std::vector<inbox_start>{};
  }

  // Where nothing may write beside the one writer: what deletes finished sagas, on this journal's thread, between two of its commits. Null:
  // store::open_retention() has one with a connection of its own.
  virtual retention* own_retention() { return nullptr; }

  // The store's clock, now: on PostgreSQL the server's, else the machine's (or the one the memory store was given).
  virtual result<timestamp> now() = 0;
  // Number of virtual shards, fixed when the store was made; 1 where the store has none.
  virtual std::uint16_t shards() const = 0;
  // All of them, as load_open() and take_inbox() want them.
  std::vector<shard> every_shard() const {
    std::vector<shard> all;
    for (std::uint16_t number = 0; number < shards(); ++number) all.emplace_back(number);
    return all;
  }
};

// Which sagas to list; empty fields do not filter. Newest first; keyset paging: pass the last id of the page before.
struct saga_filter {
  static constexpr std::uint32_t page_max = 1000;  // a larger `limit` counts as this

  std::string definition;  // exact name
  std::optional<saga_status> status;
  std::string key_prefix;          // taken literally: % and _ mean themselves
  std::optional<timestamp> since;  // started at or after
  std::optional<saga_id> before;   // ids older than this one
  std::uint32_t limit = 50;

  saga_filter() = default;
};

// Where a saga is found without looking into every shard.
struct saga_place {
  atone::shard home;
  saga_id id;

  saga_place() = default;
  saga_place(atone::shard in, saga_id which) : home(in), id(which) {}
};

// Who has claimed a business key.
struct key_claim {
  saga_id holder;
  content_hash body;  // of the input it was started with

  key_claim() = default;
};

// The reading side; never from a replica, so what was committed before a call began is seen by it. What is not there is an empty
// answer, not an error. Errors: unavailable; corrupt (a row that can't be read back).
class journal_reader {
 public:
  virtual ~journal_reader() = default;

  virtual result<std::optional<saga_row>> find(saga_id id) = 0;
  // The saga that holds the key, ended or not; nothing too when it has been deleted. Sagas without a key are not found by the empty one.
  virtual result<std::optional<saga_row>> find_by_key(std::string_view saga_name, business_key const& key) = 0;
  // Who holds the key; also while only the key is left of it.
  virtual result<std::optional<key_claim>> claim_of(std::string_view saga_name, business_key const& key) = 0;
  virtual result<std::vector<saga_row>> list(saga_filter const& filter) = 0;
  virtual result<std::vector<event>> history(saga_id id) = 0;  // whole, oldest first
  virtual result<std::vector<compensation_entry>> compensations(saga_id id) = 0;
  // Those of these sagas that are there, whole, in any order: what rested and goes on. For sagas that nobody writes meanwhile.
  virtual result<std::vector<open_saga>> load(std::vector<saga_place> const& which);
  virtual result<std::vector<alert_row>> alerts(std::uint32_t limit) = 0;    // newest first, of all sagas; at most saga_filter::page_max
  virtual result<std::vector<operator_action_row>> actions(saga_id id) = 0;  // in the order they were asked for
  // By exact version, or the newest where `version` is nothing.
  virtual result<std::optional<definition_row>> definition(std::string_view name, std::optional<definition_version> version) = 0;
  virtual result<std::vector<definition_row>> definitions() = 0;  // every version of every name
  virtual result<std::optional<last_output_row>> last_output(std::string_view saga_name, step_path const& step, std::string_view key) = 0;
  // How many sagas stand in each status; a status without sagas is left out. Counts whole tables: not for every request.
  virtual result<std::map<saga_status, std::uint64_t>> counts() = 0;
  virtual result<deletion_record> deletions() = 0;
};

// What `atone db status` shows.
struct schema_status {
  std::uint32_t found = 0;     // newest migration applied; 0: none
  std::uint32_t expected = 0;  // newest one this build knows

  schema_status() = default;
};

// One opened store: hands out the two sides, and is kept until they are gone. `unavailable` when it can't be reached; sides are handed
// out only while the tables are at the migration this build expects.
class store {
 public:
  virtual ~store() = default;
  virtual result<std::unique_ptr<journal>> open_journal() = 0;
  virtual result<std::unique_ptr<journal_reader>> open_reader() = 0;
  // Where several coordinators share the store: the membership of the writer that took over under this epoch. Null: one coordinator at a
  // time drives everything.
  virtual result<std::unique_ptr<membership>> open_membership(epoch as) {
    static_cast<void>(as);
    return std::unique_ptr<membership>{};
  }
  // What deletes finished sagas for the writer that took over under this epoch, beside it, on a connection of its own. Null: the journal
  // has it (journal::own_retention). Errors: unavailable; fenced.
  virtual result<std::unique_ptr<retention>> open_retention(epoch as) {
    static_cast<void>(as);
    return std::unique_ptr<retention>{};
  }
  virtual result<schema_status> status() = 0;
  virtual result<void> migrate() = 0;             // applies what is missing, each in a transaction; idempotent
  virtual std::vector<std::string> health() = 0;  // what `doctor` warns of (fsync off …); empty: fine
  virtual std::string description() const = 0;    // "sqlite:sagas.db", without any password
};

// "memory:", "sqlite:PATH" or "postgresql://…". Does not migrate; an SQLite file that is missing is made. Errors: invalid_argument (the
// address), unsupported (a store this build lacks), conflict (another process holds the SQLite file), unavailable.
result<std::unique_ptr<store>> open_store(std::string const& address);

// The clock of a store whose database has none of its own. Must not throw.
using store_clock = std::function<timestamp()>;

// Makes an independent store in memory (tests, examples); nothing survives the process. The second form takes its time
// from the caller (a simulator's virtual time); `clock` is called under the store's lock, from any thread that commits.
std::unique_ptr<store> make_memory_store();
std::unique_ptr<store> make_memory_store(store_clock clock);

// One saga that was taken out of a batch because the store refuses its data.
struct rejected_saga {
  saga_id saga;
  error why;

  rejected_saga() = default;
};

// What came of a batch whose culprits were taken out.
struct isolating_report {
  commit_report report;                   // of all parts together; the time is the last part's
  std::vector<rejected_saga> rejected;    // nothing of these was written
  std::vector<std::uint64_t> taken_left;  // of the batch's `taken`: to be named in a later one
  batch_number last;                      // numbers used: from the one passed in up to this one; one less than that when none was

  isolating_report() = default;
};

// Commits `batch`; when the store refuses it as bad_data, halves it by sagas until the culprits are alone, commits the rest
// and names them. Never splits one saga's writes. Where it had to halve, `taken` is not written but left to the caller: nothing says which
// saga a number belongs to, a request may leave only when its saga is in, and that of a rejected one only with the word that it was.
// Other errors are returned as they are, with what was committed lost to the caller: it takes over again and replays.
result<isolating_report> commit_isolating(journal& to, journal_batch const& batch, batch_number first);

}  // namespace atone
