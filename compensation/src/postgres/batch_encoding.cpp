#include "postgres/batch_encoding.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace atone::postgres {

std::string const commit_statement =
    "select (extract(epoch from at) * 1000000)::bigint, refused, existing, body from atone.commit_batch($1, $2, $3, $4, $5, $6, $7, $8, "
    "$9, $10, $11, $12, $13, $14)";

namespace {

std::int16_t shard_of_text(std::string const& named, std::uint16_t shards) {
  auto const digest = content_hash::of(named).value();
  unsigned const number =
      static_cast<unsigned>(digest[0]) << 24 | static_cast<unsigned>(digest[1]) << 16 | static_cast<unsigned>(digest[2]) << 8 | digest[3];
  return static_cast<std::int16_t>(number % shards);
}

std::int16_t narrow(shard home) {
  return static_cast<std::int16_t>(home.value());
}
template <class Enum>
std::int16_t code(Enum value) {
  return static_cast<std::int16_t>(value);
}
template <class Rep>
std::int32_t signed_number(Rep value) {
  return static_cast<std::int32_t>(value);
}

using changes_by_saga = std::unordered_map<saga_id, saga_row const*>;

changes_by_saga index_changes(std::vector<saga_change> const& changes) {
  changes_by_saga found;
  for (auto const& change : changes) found[change.row.id] = &change.row;
  return found;
}

// A saga that starts and changes in one batch is written once, as it stands at the end.
void encode_start(binary_rows& rows, saga_start const& start, saga_row const& newest, std::uint16_t shards) {
  auto const& row = start.row;
  rows.begin_row().small(narrow(row.home)).uuid(row.id).text(row.definition.name);
  rows.integer(signed_number(row.definition.version.value())).hash(row.definition.hash).text(row.key.value());
  rows.small(shard_of_key(row.definition.name, row.key.value(), shards)).hash(start.body).small(code(newest.status));
  rows.time(row.started_at).time(newest.updated_at).time(newest.ended_at).text(newest.cause).bytes(newest.output);
  rows.integer(signed_number(newest.crashes)).integer(signed_number(newest.last.value()));
}

std::string encode_starts(journal_batch const& batch, changes_by_saga& changes, type_id type, std::uint16_t shards) {
  binary_rows rows{type, 16};
  for (auto const& start : batch.starts) {
    auto const changed = changes.find(start.row.id);
    encode_start(rows, start, changed == changes.end() ? start.row : *changed->second, shards);
    if (changed != changes.end()) changes.erase(changed);
  }
  return rows.take();
}

std::string encode_records(std::vector<journal_record> const& records, type_id type) {
  binary_rows rows{type, 18};
  for (auto const& record : records) {
    auto const& event = record.event;
    rows.begin_row().small(narrow(record.home)).uuid(record.saga).integer(signed_number(event.seq.value()));
    rows.integer(signed_number(event.cause.value())).time(event.at).big(static_cast<std::int64_t>(event.random));
    rows.small(code(event.kind)).small(code(event.op)).integer(signed_number(event.n.value())).small(code(event.sureness));
    rows.small(code(event.timer)).integer(event.status).big(event.retry_after.count()).small(event_format);
    rows.text(event.step.text()).text(event.text).text(event.actor).bytes(event.payload);
  }
  return rows.take();
}

std::string encode_changes(std::vector<saga_change> const& changes, changes_by_saga const& wanted, type_id type) {
  binary_rows rows{type, 10};
  for (auto const& change : changes) {
    auto const& row = change.row;
    auto const newest = wanted.find(row.id);
    if (newest == wanted.end() || newest->second != &row) continue;
    rows.begin_row().small(narrow(row.home)).uuid(row.id).small(code(row.status)).time(row.updated_at).time(row.ended_at);
    rows.text(row.cause).bytes(row.output).integer(signed_number(row.crashes)).integer(signed_number(row.last.value()));
    rows.time(row.wake_at);
  }
  return rows.take();
}

// Those that start and rest in one batch.
std::string encode_rests(journal_batch const& batch, changes_by_saga const& changes, type_id type) {
  binary_rows rows{type, 3};
  for (auto const& start : batch.starts) {
    auto const changed = changes.find(start.row.id);
    auto const& newest = changed == changes.end() ? start.row : *changed->second;
    if (newest.wake_at) rows.begin_row().small(narrow(newest.home)).uuid(newest.id).time(*newest.wake_at);
  }
  return rows.take();
}

// One row a (saga, trace): the statement may not touch a row twice. The newest wins, unless a success came before it.
std::vector<compensation_entry> newest_entries(std::vector<compensation_entry> const& entries) {
  std::vector<compensation_entry> kept;
  std::unordered_map<std::string, std::size_t> seen;
  for (auto const& entry : entries) {
    auto const [at, first] = seen.try_emplace(entry.saga.text() + entry.trace.text(), kept.size());
    if (first) {
      kept.push_back(entry);
      continue;
    }
    auto& known = kept[at->second];
    if (known.status == compensation_status::success) continue;
    auto const created = known.created_at;
    known = entry;
    known.created_at = created;
  }
  return kept;
}

std::string encode_compensations(std::vector<compensation_entry> const& entries, type_id type) {
  binary_rows rows{type, 10};
  for (auto const& entry : newest_entries(entries)) {
    rows.begin_row().small(narrow(entry.home)).uuid(entry.saga).text(entry.trace.text()).text(entry.step.text());
    rows.text(name(entry.op)).text(name(entry.status)).integer(signed_number(entry.attempts)).text(entry.last_error);
    rows.time(entry.created_at).time(entry.updated_at);
  }
  return rows.take();
}

std::string encode_alerts(std::vector<alert_row> const& alerts, type_id type, std::uint16_t shards) {
  // The statement may not touch a row twice: the newest of a (saga, step, kind) wins. In the order of their keys: alerts of no saga may be
  // written by another coordinator at this moment, which takes their locks in the same order.
  std::map<std::string, alert_row const*> newest;
  for (auto const& alert : alerts) newest[alert.saga.text() + '\0' + alert.step.text() + '\0' + alert.kind] = &alert;
  binary_rows rows{type, 7};
  for (auto const& [key, last] : newest) {
    auto const& alert = *last;
    rows.begin_row().small(shard_of_saga_rows(alert.saga, shards)).uuid(alert.saga).text(alert.step.text()).text(alert.kind);
    rows.small(code(alert.level)).text(alert.text).time(alert.raised_at);
  }
  return rows.take();
}

std::string encode_outputs(std::vector<last_output_row> const& outputs, type_id type, std::uint16_t shards) {
  // In the order of their keys: another coordinator may write the same rows at this moment, and takes their locks in the same order.
  std::map<std::string, last_output_row const*> newest;
  for (auto const& output : outputs) newest[output.saga_name + '\0' + output.step.text() + '\0' + output.key] = &output;
  binary_rows rows{type, 7};
  for (auto const& [key, last] : newest) {
    auto const& output = *last;
    rows.begin_row().small(shard_of_output(output.saga_name, output.step, output.key, shards)).text(output.saga_name);
    rows.text(output.step.text()).text(output.key).uuid(output.written_by).time(output.at).bytes(output.output);
  }
  return rows.take();
}

std::string encode_actions(std::vector<operator_action_row> const& actions, type_id type, std::uint16_t shards) {
  binary_rows rows{type, 8};
  for (auto const& action : actions) {
    rows.begin_row().small(shard_of_saga_rows(action.saga, shards)).uuid(action.saga).text(action.actor).text(action.action);
    rows.text(action.step.text()).text(action.note).text(action.outcome).time(action.at);
  }
  return rows.take();
}

result<void> check_shard(shard home, saga_id saga, std::uint16_t shards) {
  if (home.value() < shards) return {};
  return error{errc::bad_data, "saga " + saga.text() + ": shard " + std::to_string(home.value()) + "; this store has shards 0 to " +
                                   std::to_string(shards - 1)};
}

}  // namespace

result<void> check_shards(journal_batch const& batch, std::uint16_t shards) {
  for (auto const& start : batch.starts) {
    if (auto fine = check_shard(start.row.home, start.row.id, shards); !fine) return fine;
  }
  for (auto const& record : batch.records) {
    if (auto fine = check_shard(record.home, record.saga, shards); !fine) return fine;
  }
  for (auto const& change : batch.changes) {
    if (auto fine = check_shard(change.row.home, change.row.id, shards); !fine) return fine;
  }
  for (auto const& entry : batch.compensations) {
    if (auto fine = check_shard(entry.home, entry.saga, shards); !fine) return fine;
  }
  return {};
}

std::vector<binary_parameter> encode_batch(journal_batch const& batch, writer_identity const& by, batch_number number,
                                           row_types const& types, std::uint16_t shards) {
  auto changes = index_changes(batch.changes);
  std::vector<binary_parameter> out;
  out.reserve(14);
  out.push_back(binary_small(static_cast<std::int16_t>(by.number.value())));
  out.push_back(binary_big(static_cast<std::int64_t>(by.epoch.value())));
  out.push_back(binary_big(static_cast<std::int64_t>(number.value())));
  bool const keyed =
      std::any_of(batch.starts.begin(), batch.starts.end(), [](saga_start const& start) { return !start.row.key.value().empty(); });
  out.push_back(binary_bool(keyed));
  out.push_back(binary_smalls(batch.foreign));
  auto rests = encode_rests(batch, changes, types.rest);
  out.push_back(encode_starts(batch, changes, types.start, shards));
  out.push_back(encode_records(batch.records, types.record));
  out.push_back(encode_changes(batch.changes, changes, types.change));
  out.push_back(encode_compensations(batch.compensations, types.compensation));
  out.push_back(encode_alerts(batch.alerts, types.alert, shards));
  out.push_back(encode_outputs(batch.outputs, types.output, shards));
  out.push_back(encode_actions(batch.actions, types.action, shards));
  auto taken = batch.taken;  // in one order for all coordinators, as above
  std::sort(taken.begin(), taken.end());
  out.push_back(binary_bigs(taken));
  out.push_back(std::move(rests));
  return out;
}

std::int16_t shard_of_key(std::string_view saga_name, std::string_view key, std::uint16_t shards) {
  if (key.empty()) return 0;  // no key row is written
  return shard_of_text(std::string{saga_name} + '\n' + std::string{key}, shards);
}

std::int16_t shard_of_output(std::string_view saga_name, step_path const& step, std::string_view key, std::uint16_t shards) {
  return shard_of_text(std::string{saga_name} + '\n' + step.text() + '\n' + std::string{key}, shards);
}

std::int16_t shard_of_saga_rows(saga_id id, std::uint16_t shards) {
  return static_cast<std::int16_t>(std::hash<saga_id>{}(id) % shards);
}

}  // namespace atone::postgres
