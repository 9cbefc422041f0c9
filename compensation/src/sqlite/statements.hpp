// The statements of the journal, in one place with the columns that rows.cpp reads and batch_writer.cpp binds.
#pragma once

#include <cstddef>

namespace atone::sqlite::sql {

#define ATONE_SAGA_COLUMNS                                                                                                 \
  "saga_id, definition, version, definition_hash, business_key, status, started_at, updated_at, ended_at, cause, output, " \
  "crashes, last_event, wake_at"

// Writing.
inline constexpr char read_writer[] = "SELECT epoch, last_batch, last_time, last_losers FROM atone_writer WHERE shard = 0";
inline constexpr char take_over[] =
    "UPDATE atone_writer SET node = ?, epoch = epoch + 1, last_batch = 0, last_time = 0, last_losers = '' WHERE shard = 0 RETURNING epoch";
inline constexpr char fence[] = "UPDATE atone_writer SET last_batch = ?, last_time = ?, last_losers = ? WHERE shard = 0 AND epoch = ?";
inline constexpr char claim_key[] =
    "INSERT INTO atone_start_key (shard, saga_name, business_key, saga_id, body, claimed_at) VALUES (0, ?, ?, ?, ?, ?) "
    "ON CONFLICT DO NOTHING";
inline constexpr char find_claim[] = "SELECT saga_id, body FROM atone_start_key WHERE shard = 0 AND saga_name = ? AND business_key = ?";
inline constexpr char insert_saga[] =
    "INSERT INTO atone_saga (shard, " ATONE_SAGA_COLUMNS ") VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
// One row a statement, or several: of a row's cost a good third is the statement's own. OR FAIL instead of the default ABORT, since a
// statement of several rows that may abort copies every page first so that it can take them back; here whoever fails takes back the
// whole transaction.
#define ATONE_INSERT_EVENT                                                                                                               \
  "INSERT OR FAIL INTO atone_journal (shard, saga_id, seq, format, kind, cause, at, random, step, operation, attempt, sureness, timer, " \
  "status, retry_after, payload, text, actor) VALUES "
#define ATONE_EVENT_ROW "(0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define ATONE_TWO(row) row ", " row
inline constexpr char insert_event[] = ATONE_INSERT_EVENT ATONE_EVENT_ROW;
inline constexpr std::size_t events_at_once = 8;
inline constexpr char insert_events[] = ATONE_INSERT_EVENT ATONE_TWO(ATONE_TWO(ATONE_TWO(ATONE_EVENT_ROW)));
#define ATONE_CHANGE_SAGA                                                                                                \
  "UPDATE atone_saga SET status = ?, updated_at = ?, ended_at = ?, cause = ?, output = ?, crashes = ?, last_event = ?, " \
  "wake_at = ? WHERE shard = 0 AND saga_id = ?"
inline constexpr char change_open_saga[] = ATONE_CHANGE_SAGA " AND status NOT IN (5, 6)";
inline constexpr char change_saga[] = ATONE_CHANGE_SAGA;
inline constexpr char status_of[] = "SELECT status FROM atone_saga WHERE shard = 0 AND saga_id = ?";
inline constexpr char count_ended[] = "UPDATE atone_saga_ended SET sagas = sagas + ? WHERE shard = 0 AND status = ?";
// A success stands: the WHERE refuses to overwrite it (2 is success).
inline constexpr char put_compensation[] =
    "INSERT INTO atone_compensation_log (shard, saga_id, trace_id, step, operation, status, attempts, last_error, created_at, updated_at) "
    "VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (shard, saga_id, trace_id) DO UPDATE SET status = excluded.status, "
    "attempts = excluded.attempts, last_error = excluded.last_error, updated_at = excluded.updated_at WHERE status <> 2";
inline constexpr char put_alert[] =
    "INSERT INTO atone_alert (shard, saga_id, step, kind, level, text, raised_at) VALUES (0, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (shard, saga_id, step, kind) DO UPDATE SET level = excluded.level, text = excluded.text, raised_at = excluded.raised_at";
inline constexpr char put_output[] =
    "INSERT INTO atone_last_output (shard, saga_name, step, output_key, written_by, output, at) VALUES (0, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (shard, saga_name, step, output_key) DO UPDATE SET written_by = excluded.written_by, output = excluded.output, "
    "at = excluded.at";
inline constexpr char insert_action[] =
    "INSERT INTO atone_operator_action (shard, saga_id, number, actor, action, step, note, outcome, at) SELECT 0, ?1, "
    "1 + coalesce((SELECT max(number) FROM atone_operator_action WHERE shard = 0 AND saga_id = ?1), 0), ?, ?, ?, ?, ?, ?";
inline constexpr char insert_definition[] =
    "INSERT INTO atone_definition (name, version, hash, text, published_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";

// Deleting.
inline constexpr char old_sagas[] =
    "SELECT saga_id, definition, business_key, ended_at, status IN (5, 6) AND ended_at < ?1 FROM atone_saga "
    "WHERE shard = 0 AND saga_id > ?2 AND saga_id < ?3 ORDER BY saga_id LIMIT ?4";
inline constexpr char delete_saga[] = "DELETE FROM atone_saga WHERE shard = 0 AND saga_id = ? AND status IN (5, 6) AND ended_at < ?";
inline constexpr char delete_events[] = "DELETE FROM atone_journal WHERE shard = 0 AND saga_id = ?";
inline constexpr char delete_compensations[] = "DELETE FROM atone_compensation_log WHERE shard = 0 AND saga_id = ?";
inline constexpr char delete_alerts[] = "DELETE FROM atone_alert WHERE shard = 0 AND saga_id = ?";
inline constexpr char delete_actions[] = "DELETE FROM atone_operator_action WHERE shard = 0 AND saga_id = ?";
inline constexpr char keep_key[] = "INSERT INTO atone_kept_key (shard, saga_id, saga_name, business_key, ended_at) VALUES (0, ?, ?, ?, ?)";
inline constexpr char note_deletion[] = "UPDATE atone_deletion SET sagas = sagas + ?, newest = max(newest, ?) WHERE shard = 0";
inline constexpr char kept_keys[] =
    "SELECT saga_id, saga_name, business_key, ended_at FROM atone_kept_key "
    "WHERE shard = 0 AND saga_id > ? AND saga_id < ? ORDER BY saga_id LIMIT ?";
inline constexpr char delete_claim[] = "DELETE FROM atone_start_key WHERE shard = 0 AND saga_name = ? AND business_key = ? AND saga_id = ?";
inline constexpr char delete_kept_key[] = "DELETE FROM atone_kept_key WHERE shard = 0 AND saga_id = ?";

// Reading.
inline constexpr char deletions[] = "SELECT sagas, newest FROM atone_deletion WHERE shard = 0";
inline constexpr char find_saga[] = "SELECT " ATONE_SAGA_COLUMNS " FROM atone_saga WHERE shard = 0 AND saga_id = ?";
inline constexpr char open_sagas[] =
    "SELECT " ATONE_SAGA_COLUMNS
    " FROM atone_saga INDEXED BY atone_saga_open WHERE shard = 0 AND status NOT IN (5, 6) AND saga_id > ? ORDER BY saga_id LIMIT ?";
inline constexpr char events_of[] =
    "SELECT seq, format, kind, cause, at, random, step, operation, attempt, sureness, timer, status, retry_after, payload, text, actor "
    "FROM atone_journal WHERE shard = 0 AND saga_id = ? ORDER BY seq";
inline constexpr char compensations_of[] =
    "SELECT trace_id, step, operation, status, attempts, last_error, created_at, updated_at FROM atone_compensation_log "
    "WHERE shard = 0 AND saga_id = ? ORDER BY trace_id";
inline constexpr char newest_alerts[] =
    "SELECT saga_id, step, kind, level, text, raised_at FROM atone_alert WHERE shard = 0 "
    "ORDER BY raised_at DESC, saga_id DESC, step, kind LIMIT ?";
inline constexpr char actions_of[] =
    "SELECT actor, action, step, note, outcome, at FROM atone_operator_action WHERE shard = 0 AND saga_id = ? ORDER BY number";
inline constexpr char definition_version[] =
    "SELECT name, version, hash, text, published_at FROM atone_definition WHERE name = ? AND version = ?";
inline constexpr char definition_newest[] =
    "SELECT name, version, hash, text, published_at FROM atone_definition WHERE name = ? ORDER BY version DESC LIMIT 1";
inline constexpr char definitions[] = "SELECT name, version, hash, text, published_at FROM atone_definition ORDER BY name, version";
inline constexpr char find_output[] =
    "SELECT saga_name, step, output_key, written_by, output, at FROM atone_last_output "
    "WHERE shard = 0 AND saga_name = ? AND step = ? AND output_key = ?";
inline constexpr char count_sagas[] =
    "SELECT status, count(*) FROM atone_saga INDEXED BY atone_saga_open WHERE shard = 0 AND status NOT IN (5, 6) GROUP BY status "
    "UNION ALL SELECT status, sagas FROM atone_saga_ended WHERE shard = 0 AND sagas > 0";

}  // namespace atone::sqlite::sql
