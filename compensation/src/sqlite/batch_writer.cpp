#include "sqlite/batch_writer.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "sqlite/rows.hpp"
#include "sqlite/statements.hpp"

namespace atone::sqlite {
namespace {

// Says which record the store refused: SQLite itself names only the table.
error about(error why, std::string const& what) {
  why.message = what + ": " + why.message;
  return why;
}

void add_event(query& to, event const& one, std::string const& id) {
  to.add_text(id).add(one.seq.value()).add(event_format).add(static_cast<std::int64_t>(one.kind)).add(one.cause.value());
  to.add(stored(one.at)).add(std::bit_cast<std::int64_t>(one.random)).add_text(one.step.text());
  to.add(static_cast<std::int64_t>(one.op)).add(one.n.value()).add(static_cast<std::int64_t>(one.sureness));
  to.add(static_cast<std::int64_t>(one.timer)).add(one.status).add(one.retry_after.count());
  to.add_bytes(one.payload).add_text(one.text).add_text(one.actor);
}

void add_maybe(query& to, std::optional<timestamp> at) {
  if (at) {
    to.add(stored(*at));
  } else {
    to.add_null();
  }
}

}  // namespace

result<std::vector<start_loser>> batch_writer::write(journal_batch const& batch) {
  for (auto const& start : batch.starts) {
    if (auto done = claim(start); !done) return done.error();
    if (left(start.row.id)) continue;
    if (auto done = write_start(start); !done) return done.error();
  }
  if (auto done = write_records(batch.records); !done) return done.error();
  for (auto const& change : batch.changes) {
    if (left(change.row.id)) continue;
    if (auto done = write_change(change.row); !done) return done.error();
  }
  for (auto const& entry : batch.compensations) {
    if (left(entry.saga)) continue;
    if (auto done = write_compensation(entry); !done) return done.error();
  }
  for (auto const& alert : batch.alerts) {
    if (left(alert.saga)) continue;
    if (auto done = write_alert(alert); !done) return done.error();
  }
  for (auto const& output : batch.outputs) {
    if (left(output.written_by)) continue;
    if (auto done = write_output(output); !done) return done.error();
  }
  for (auto const& action : batch.actions) {
    if (left(action.saga)) continue;
    if (auto done = write_action(action); !done) return done.error();
  }
  if (auto done = write_counts(); !done) return done.error();
  return std::move(losers_);
}

result<void> batch_writer::claim(saga_start const& start) {
  if (start.row.key.value().empty()) return {};
  auto key = on_.use(sql::claim_key);
  if (!key) return key.error();
  auto const id = stored(start.row.id);
  key->add_text(start.row.definition.name).add_text(start.row.key.value()).add_text(id).add_bytes(stored(start.body));
  key->add(stored(start.row.started_at));
  if (auto done = key->run(); !done) return about(done.error(), "business key of saga " + id);
  return on_.changes() == 1 ? result<void>{} : lose(start);
}

result<void> batch_writer::lose(saga_start const& start) {
  auto holder = on_.use(sql::find_claim);
  if (!holder) return holder.error();
  holder->add_text(start.row.definition.name).add_text(start.row.key.value());
  auto const row = holder->step();
  if (!row) return row.error();
  ATONE_ASSERT(*row);  // the insert met it in this very transaction
  auto const existing = read_id(*holder);
  if (!existing) return existing.error();
  auto const body = read_hash(*holder);
  if (!body) return body.error();
  if (*existing == start.row.id) return {};  // its own claim: the saga's row tells whether it was started before
  start_loser loser;
  loser.refused = start.row.id;
  loser.existing = *existing;
  loser.body = *body;
  losers_.push_back(loser);
  losing_.insert(start.row.id);
  return {};
}

result<void> batch_writer::write_start(saga_start const& start) {
  auto to = on_.use(sql::insert_saga);
  if (!to) return to.error();
  saga_row const& row = start.row;
  auto const id = stored(row.id);
  to->add_text(id).add_text(row.definition.name).add(row.definition.version.value()).add_bytes(stored(row.definition.hash));
  to->add_text(row.key.value()).add(static_cast<std::int64_t>(row.status)).add(stored(row.started_at)).add(stored(row.updated_at));
  add_maybe(*to, row.ended_at);
  to->add_text(row.cause).add_text(row.output).add(row.crashes).add(row.last.value());
  add_maybe(*to, row.wake_at);
  if (auto done = to->run(); !done) return about(done.error(), "saga " + id);
  if (is_final(row.status)) ++ended_[row.status];
  return {};
}

result<void> batch_writer::write_records(std::vector<journal_record> const& records) {
  std::array<journal_record const*, sql::events_at_once> rows{};
  std::size_t count = 0;
  for (auto const& record : records) {
    if (left(record.saga)) continue;
    rows[count++] = &record;
    if (count < rows.size()) continue;
    if (auto done = write_events(sql::insert_events, rows); !done) return done;
    count = 0;
  }
  for (std::size_t at = 0; at < count; ++at) {
    if (auto done = write_events(sql::insert_event, std::span{rows}.subspan(at, 1)); !done) return done;
  }
  return {};
}

// As many rows as the statement takes.
result<void> batch_writer::write_events(char const* statement, std::span<journal_record const* const> rows) {
  auto to = on_.use(statement);
  if (!to) return to.error();
  std::array<std::string, sql::events_at_once> ids;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    ids[at] = stored(rows[at]->saga);
    add_event(*to, rows[at]->event, ids[at]);
  }
  auto done = to->run();
  if (done) return {};
  if (done.error().code != errc::bad_data) return about(done.error(), "events");
  // The rows before the refused one are in, and counted, until the transaction is taken back.
  auto const refused = std::min<std::size_t>(static_cast<std::size_t>(on_.changes()), rows.size() - 1);
  return about(done.error(), "event " + std::to_string(rows[refused]->event.seq.value()) + " of saga " + ids[refused]);
}

// Nearly every change is of a saga that is still open: whether it was is asked for in the statement itself, and only where it was not
// is its status looked up.
result<void> batch_writer::write_change(saga_row const& row) {
  auto const id = stored(row.id);
  if (auto done = change(sql::change_open_saga, row, id); !done) return done;
  if (on_.changes() == 0) {
    auto const before = status_of(id);
    if (!before) return before.error();
    if (auto done = change(sql::change_saga, row, id); !done) return done;
    ATONE_ASSERT(on_.changes() == 1 && is_final(*before));
    --ended_[*before];
  }
  if (is_final(row.status)) ++ended_[row.status];
  return {};
}

result<void> batch_writer::change(char const* statement, saga_row const& row, std::string const& id) {
  auto to = on_.use(statement);
  if (!to) return to.error();
  to->add(static_cast<std::int64_t>(row.status)).add(stored(row.updated_at));
  add_maybe(*to, row.ended_at);
  to->add_text(row.cause).add_text(row.output).add(row.crashes).add(row.last.value());
  add_maybe(*to, row.wake_at);
  to->add_text(id);
  if (auto done = to->run(); !done) return about(done.error(), "saga " + id);
  return {};
}

result<saga_status> batch_writer::status_of(std::string const& id) {
  auto row = on_.use(sql::status_of);
  if (!row) return row.error();
  row->add_text(id);
  auto const found = row->step();
  if (!found) return found.error();
  if (!*found) return error{errc::bad_data, "a change of saga " + id + ", which was never started"};
  return static_cast<saga_status>(row->take_integer());
}

result<void> batch_writer::write_counts() {
  for (auto const& [status, more] : ended_) {
    if (more == 0) continue;
    auto to = on_.use(sql::count_ended);
    if (!to) return to.error();
    to->add(more).add(static_cast<std::int64_t>(status));
    if (auto done = to->run(); !done) return about(done.error(), "the count of ended sagas");
    if (on_.changes() != 1)
      return error{errc::corrupt, "the row of status " + std::to_string(static_cast<int>(status)) + " is missing from atone_saga_ended"};
  }
  return {};
}

result<void> batch_writer::write_compensation(compensation_entry const& entry) {
  auto to = on_.use(sql::put_compensation);
  if (!to) return to.error();
  auto const id = stored(entry.saga);
  to->add_text(id).add_text(entry.trace.text()).add_text(entry.step.text()).add(static_cast<std::int64_t>(entry.op));
  to->add(static_cast<std::int64_t>(entry.status)).add(entry.attempts).add_text(entry.last_error);
  to->add(stored(entry.created_at)).add(stored(entry.updated_at));
  if (auto done = to->run(); !done) return about(done.error(), "compensation " + entry.trace.text() + " of saga " + id);
  return {};
}

result<void> batch_writer::write_alert(alert_row const& alert) {
  auto to = on_.use(sql::put_alert);
  if (!to) return to.error();
  auto const id = stored(alert.saga);
  to->add_text(id).add_text(alert.step.text()).add_text(alert.kind).add(static_cast<std::int64_t>(alert.level));
  to->add_text(alert.text).add(stored(alert.raised_at));
  if (auto done = to->run(); !done) return about(done.error(), "alert of saga " + id);
  return {};
}

result<void> batch_writer::write_output(last_output_row const& output) {
  auto to = on_.use(sql::put_output);
  if (!to) return to.error();
  auto const id = stored(output.written_by);
  to->add_text(output.saga_name).add_text(output.step.text()).add_text(output.key).add_text(id).add_text(output.output);
  to->add(stored(output.at));
  if (auto done = to->run(); !done) return about(done.error(), "last output of saga " + id);
  return {};
}

result<void> batch_writer::write_action(operator_action_row const& action) {
  auto to = on_.use(sql::insert_action);
  if (!to) return to.error();
  auto const id = stored(action.saga);
  to->add_text(id).add_text(action.actor).add_text(action.action).add_text(action.step.text()).add_text(action.note);
  to->add_text(action.outcome).add(stored(action.at));
  if (auto done = to->run(); !done) return about(done.error(), "operator action on saga " + id);
  return {};
}

}  // namespace atone::sqlite
