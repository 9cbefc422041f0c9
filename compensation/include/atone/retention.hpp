// Retention: what is finished is deleted once its end lies back far enough; sagas first, their business keys later.
//
// What every store keeps:
//  - a saga goes whole, in one transaction: its row, its history, its compensation log, its alerts, the actions asked of it. Only sagas
//    that have ended (completed, compensated) go; one that is open or parked never does, however old it is;
//  - its business key stays: a start under it still finds the saga's id, until the key's own time is over. Keys of sagas that are there are
//    never touched;
//  - definitions and the last good outputs of steps stay: others need them;
//  - ages count from a saga's end, by the store's clock;
//  - where several coordinators share the store, each deletes in the shards whose leases it holds.
//
// Thread rules: a retention belongs to one thread at a time; calls block. One that came from journal::own_retention() belongs to the
// journal's thread and dies with the journal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <atone/ids.hpp>
#include <atone/result.hpp>
#include <atone/time.hpp>

namespace atone {

class journal_reader;

// A saga that has ended long enough ago.
struct finished_saga {
  shard home;
  saga_id id;
  std::string definition;  // its name: with it the key is found
  business_key key;        // empty: none
  timestamp ended_at;

  finished_saga() = default;
};

// What a look at a stretch of sagas found. They come in the order of their ids, which is that of their starts, whatever their shards: so
// their rows lie side by side, and what is written for one of them serves its neighbours.
struct finished_stretch {
  std::vector<finished_saga> sagas;  // to be deleted
  saga_id last;                      // the next look goes on behind it
  bool more = false;                 // false: no saga behind `last` can be old enough yet
  bool kept = false;                 // one of the stretch stays: it is open, or ended not long enough ago
  timestamp now;                     // by the store's clock

  finished_stretch() = default;
};

// The same of a shard's keys whose sagas are gone; here they are deleted by the look itself.
struct key_stretch {
  std::uint64_t deleted = 0;
  saga_id last;
  bool more = false;
  bool kept = false;

  key_stretch() = default;
};

class retention {
 public:
  static constexpr std::size_t batch_max = 100;  // sagas, or keys, in one transaction
  static constexpr std::size_t look_max = 1000;  // rows that one look reads

  virtual ~retention() = default;

  // Up to `most` (1 … batch_max) sagas of these shards whose end is `age` old, behind `after`. Reads only. A saga that is deleted in
  // between is no error anywhere here. Errors: unavailable; corrupt.
  virtual result<finished_stretch> look(std::vector<shard> const& of, saga_id after, duration age, std::size_t most) = 0;
  // Deletes those of `sagas` (at most batch_max) that have ended and are `age` old, in one transaction; keeps their keys. Says how many
  // went: a repeat finds none, and those in shards that are another coordinator's now stay. Errors: fenced (this coordinator drives nothing
  // any more); unavailable, also when it is not known whether they went: look again; corrupt.
  virtual result<std::uint64_t> remove(std::vector<finished_saga> const& sagas, duration age) = 0;
  // Deletes up to `most` keys of deleted sagas of the shard whose end is `age` old. Errors: as remove().
  virtual result<key_stretch> expire_keys(shard of, saga_id after, duration age, std::size_t most) = 0;
};

// The lowest id that a saga started at `at` can have: ids begin with their time.
saga_id first_id_at(timestamp at) noexcept;

// What has been deleted from a store since it was made.
struct deletion_record {
  std::uint64_t sagas = 0;
  std::optional<saga_id> newest;  // no saga that began after it has been deleted

  deletion_record() = default;
};

// The word for a saga that is not in the store (errc::not_found): says so where it may have been deleted.
error no_such_saga(journal_reader& in, saga_id id);

}  // namespace atone
