// A batch as the parameters of atone.commit_batch. Thread rules: plain functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <atone/journal.hpp>

#include "postgres/row_types.hpp"
#include "postgres/session.hpp"

namespace atone::postgres {

// The statement the parameters below belong to.
extern std::string const commit_statement;

// Who writes: one row of atone.writer, and the epoch it is driven under.
struct writer_identity {
  writer_number number;
  atone::epoch epoch;  // 0: nothing was taken over yet

  writer_identity() = default;
};

// What must hold before a batch is encoded: shards in range, texts that a PostgreSQL text can hold in range. Errors: bad_data.
result<void> check_shards(journal_batch const& batch, std::uint16_t shards);

std::vector<binary_parameter> encode_batch(journal_batch const& batch, writer_identity const& by, batch_number number,
                                           row_types const& types, std::uint16_t shards);

// The shards of rows that have no saga's shard to go by. Stored: never changed.
std::int16_t shard_of_key(std::string_view saga_name, std::string_view key, std::uint16_t shards);
std::int16_t shard_of_output(std::string_view saga_name, step_path const& step, std::string_view key, std::uint16_t shards);
std::int16_t shard_of_saga_rows(saga_id id, std::uint16_t shards);

}  // namespace atone::postgres
