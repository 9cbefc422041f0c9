// How records stand in their tables, both directions. The order of columns here is the order in statements.hpp.
// Thread rules: plain functions.
#pragma once

#include <string>
#include <vector>

#include <atone/journal.hpp>

#include "sqlite/connection.hpp"

namespace atone::sqlite {

inline constexpr std::int64_t only_shard = 0;

// Encodings that SQLite has no type for.
std::int64_t stored(timestamp at);
timestamp read_timestamp(std::int64_t microseconds);
std::string_view stored(content_hash const& hash);
// The text of an id, in a buffer that must outlive the query it is bound to; '' for none.
std::string stored(saga_id const& id);

// Each reads one row; corrupt when an id or a hash in it is none.
result<saga_row> read_saga(query& from);
result<event> read_event(query& from);
result<compensation_entry> read_compensation(query& from, saga_id saga);
result<alert_row> read_alert(query& from);
result<operator_action_row> read_action(query& from, saga_id saga);
result<definition_row> read_definition(query& from);
result<last_output_row> read_output(query& from);
result<saga_id> read_id(query& from);
result<content_hash> read_hash(query& from);

// The losers of a batch as the writer's row keeps them: one line each.
std::string write_losers(std::vector<start_loser> const& losers);
result<std::vector<start_loser>> read_losers(query& from);

// All rows of a query by one of the readers above.
template <class Row, class Read>
result<std::vector<Row>> read_all(query& from, Read const& read) {
  std::vector<Row> rows;
  for (;;) {
    auto const more = from.step();
    if (!more) return more.error();
    if (!*more) return rows;
    auto row = read(from);
    if (!row) return row.error();
    rows.push_back(std::move(*row));
  }
}

}  // namespace atone::sqlite
