#include "postgres/load.hpp"

#include <unordered_map>

#include "postgres/decoding.hpp"

namespace atone::postgres {
namespace {

std::string numbers_text(std::vector<shard> const& of) {
  std::string text = "{";
  for (auto const one : of) text += (text.size() > 1 ? "," : "") + std::to_string(one.value());
  return text + '}';
}

// The keys of one chunk as two array parameters: of all that don't rest.
struct chunk_keys {
  std::string shards = "{";
  std::string sagas = "{";
  std::unordered_map<saga_id, std::size_t> places;
};

struct key_writer {
  chunk_keys keys;

  void add(shard home, saga_id id) {
    char const* const comma = keys.shards.size() == 1 ? "" : ",";
    keys.shards += comma + std::to_string(home.value());
    keys.sagas += comma + uuid_text(id);
  }
  chunk_keys take() {
    keys.shards += '}';
    keys.sagas += '}';
    return std::move(keys);
  }
};

chunk_keys keys_of(std::vector<open_saga> const& chunk, bool resting_too) {
  key_writer made;
  for (std::size_t at = 0; at < chunk.size(); ++at) {
    auto const& row = chunk[at].row;
    if (row.wake_at && !resting_too) continue;
    made.add(row.home, row.id);
    made.keys.places.emplace(row.id, at);
  }
  return made.take();
}

std::string const of_chunk = " t where (t.shard, t.saga_id) in (select * from unnest($1::smallint[], $2::uuid[]))";

std::vector<open_saga> chunk_of(std::vector<saga_row>&& rows) {
  std::vector<open_saga> chunk(rows.size());
  for (std::size_t at = 0; at < chunk.size(); ++at) chunk[at].row = std::move(rows[at]);
  return chunk;
}

// In the order of shard and id, so that the next look goes on behind the last row. One shard after the other: its part of the index of
// open sagas is read from `after` on.
result<std::vector<open_saga>> next_sagas(session& on, shard of, saga_id after) {
  auto rows = decode_all<saga_row>(
      on.query("select " + saga_columns +
                   " from atone.saga where status not in (5, 6) and shard = $1::smallint and saga_id > $2::uuid order by saga_id limit " +
                   std::to_string(load_chunk_sagas),
               {std::to_string(of.value()), uuid_text(after)}),
      decode_saga);
  if (!rows) return rows.error();
  return chunk_of(std::move(*rows));
}

result<void> add_events(session& on, std::vector<open_saga>& chunk, chunk_keys const& keys) {
  auto const rows =
      on.query("select " + event_columns + " from atone.journal" + of_chunk + " order by shard, saga_id, seq", {keys.shards, keys.sagas});
  if (!rows) return rows.error();
  for (auto const& row : *rows) {
    auto read = decode_event(row);
    if (!read) return read.error();
    chunk[keys.places.at(decode_id(row["saga_id"]))].events.push_back(std::move(*read));
  }
  return {};
}

result<void> add_compensations(session& on, std::vector<open_saga>& chunk, chunk_keys const& keys) {
  auto entries = decode_all<compensation_entry>(
      on.query("select " + compensation_columns + " from atone.compensation_log" + of_chunk + " order by shard, saga_id, trace_id",
               {keys.shards, keys.sagas}),
      decode_compensation);
  if (!entries) return entries.error();
  for (auto& entry : *entries) {
    auto const saga = entry.saga;
    chunk[keys.places.at(saga)].compensations.push_back(std::move(entry));
  }
  return {};
}

result<void> add_rest(session& on, std::vector<open_saga>& chunk, chunk_keys const& keys) {
  if (keys.places.empty()) return {};
  if (auto added = add_events(on, chunk, keys); !added) return added;
  return add_compensations(on, chunk, keys);
}

result<inbox_start> decode_request(pqxx::row const& row) {
  inbox_start request;
  request.number = row[0].as<std::uint64_t>();
  if (!row[5].is_null()) request.arrived = decode_id(row[5]);
  request.saga_name = row[1].c_str();
  request.key = business_key{row[2].c_str()};
  request.input = from_bytea_text(row[3].c_str());
  request.requested_at = decode_time(row[4]);
  return request;
}

}  // namespace

result<void> load_open_sagas(session& on, std::vector<shard> const& of, journal::saga_sink const& sink) {
  for (auto const one : of) {
    saga_id last;
    for (;;) {
      auto chunk = next_sagas(on, one, last);
      if (!chunk) return chunk.error();
      if (chunk->empty()) break;
      last = chunk->back().row.id;
      if (auto added = add_rest(on, *chunk, keys_of(*chunk, false)); !added) return added;
      for (auto& saga : *chunk) sink(std::move(saga));
    }
  }
  return {};
}

result<std::vector<open_saga>> load_sagas(session& on, std::vector<saga_place> const& which) {
  key_writer wanted;
  for (auto const& place : which) wanted.add(place.home, place.id);
  auto const keys = wanted.take();
  auto rows =
      decode_all<saga_row>(on.query("select " + saga_columns + " from atone.saga" + of_chunk, {keys.shards, keys.sagas}), decode_saga);
  if (!rows) return rows.error();
  auto chunk = chunk_of(std::move(*rows));
  if (auto added = add_rest(on, chunk, keys_of(chunk, true)); !added) return added.error();
  return chunk;
}

result<std::vector<inbox_start>> load_inbox(session& on, std::vector<shard> const& of, std::uint16_t shards, std::uint32_t limit,
                                            std::uint64_t after) {
  return decode_all<inbox_start>(
      on.query(
          "select number, saga_name, business_key, input, " + microseconds_of("requested_at") +
              ", saga_id from atone.inbox where number > $1 and coalesce(shard, number % $2) = any($3::bigint[]) order by number limit " +
              std::to_string(limit),
          {std::to_string(after), std::to_string(shards), numbers_text(of)}),
      decode_request);
}

}  // namespace atone::postgres
