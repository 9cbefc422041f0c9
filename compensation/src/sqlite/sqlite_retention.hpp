// Deleting finished sagas on SQLite: on the journal's own connection, since the file has one writer at a time. Another connection would
// make that one wait, and drop what it has of the file in memory after each batch.
// Thread rules: those of the journal.
#pragma once

#include <atone/journal.hpp>

#include "sqlite/connection.hpp"

namespace atone::sqlite {

class sqlite_retention final : public retention {
 public:
  // All three are the journal's, and are read at each call.
  sqlite_retention(connection& on, store_clock const& clock, epoch const& as) : on_(on), clock_(clock), as_(as) {}

  result<finished_stretch> look(std::vector<shard> const& of, saga_id after, duration age, std::size_t most) override;
  result<std::uint64_t> remove(std::vector<finished_saga> const& sagas, duration age) override;
  result<key_stretch> expire_keys(shard of, saga_id after, duration age, std::size_t most) override;

 private:
  struct kept_key {
    std::string saga, saga_name, key;
    timestamp ended_at;

    kept_key() = default;
  };

  result<void> check_epoch();
  // False: it is not there, or must stay.
  result<bool> remove_one(finished_saga const& one, timestamp ended_before);
  result<void> run_for(char const* statement, std::string const& id);
  result<void> keep_key(finished_saga const& of, std::string const& id);
  result<void> note(std::uint64_t sagas, saga_id newest);
  result<std::vector<kept_key>> kept_keys(saga_id after, timestamp ended_before);
  result<void> expire(kept_key const& one);

  connection& on_;
  store_clock const& clock_;
  epoch const& as_;
};

}  // namespace atone::sqlite
