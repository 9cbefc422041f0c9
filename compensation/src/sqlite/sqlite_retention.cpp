#include "sqlite/sqlite_retention.hpp"

#include <algorithm>

#include "common/batch_check.hpp"
#include "sqlite/rows.hpp"
#include "sqlite/statements.hpp"

namespace atone::sqlite {

result<finished_stretch> sqlite_retention::look(std::vector<shard> const&, saga_id after, duration age, std::size_t most) {
  finished_stretch found;
  found.now = clock_();
  found.last = after;
  auto const ended_before = found.now - age;
  auto const from = after.text();
  auto const to = first_id_at(ended_before).text();
  auto rows = on_.use(sql::old_sagas);
  if (!rows) return rows.error();
  rows->add(stored(ended_before)).add_text(from).add_text(to).add(static_cast<std::int64_t>(retention::look_max));
  for (std::size_t looked = 0; found.sagas.size() < most; ++looked) {
    auto const more = rows->step();
    if (!more) return more.error();
    if (!*more) {
      found.more = looked == retention::look_max;
      return found;
    }
    finished_saga one;
    auto const id = read_id(*rows);
    if (!id) return id.error();
    found.last = one.id = *id;
    one.definition = rows->take_text();
    one.key = business_key{rows->take_text()};
    one.ended_at = read_timestamp(rows->take_optional().value_or(0));
    if (rows->take_optional().value_or(0) != 0) {
      found.sagas.push_back(std::move(one));
    } else {
      found.kept = true;
    }
  }
  found.more = true;
  return found;
}

result<void> sqlite_retention::check_epoch() {
  auto writer = on_.use(sql::read_writer);
  if (!writer) return writer.error();
  auto const row = writer->step();
  if (!row) return row.error();
  if (!*row) return error{errc::corrupt, "the writer's row is missing from atone_writer"};
  epoch const current{static_cast<std::uint64_t>(writer->take_integer())};
  if (as_.value() == 0 || current != as_) return fenced_at(as_, current);
  return {};
}

result<std::uint64_t> sqlite_retention::remove(std::vector<finished_saga> const& sagas, duration age) {
  ATONE_ASSERT(sagas.size() <= batch_max);
  auto open = transaction::begin_write(on_);
  if (!open) return open.error();
  if (auto fine = check_epoch(); !fine) return fine.error();
  auto const ended_before = clock_() - age;
  std::uint64_t gone = 0;
  saga_id newest;
  for (auto const& one : sagas) {
    auto const removed = remove_one(one, ended_before);
    if (!removed) return removed.error();
    if (!*removed) continue;
    ++gone;
    newest = std::max(newest, one.id);
  }
  if (gone > 0) {
    if (auto noted = note(gone, newest); !noted) return noted.error();
  }
  if (auto done = open->commit(); !done) return done.error();
  return gone;
}

result<bool> sqlite_retention::remove_one(finished_saga const& one, timestamp ended_before) {
  auto const id = stored(one.id);
  {
    auto saga = on_.use(sql::delete_saga);
    if (!saga) return saga.error();
    saga->add_text(id).add(stored(ended_before));
    if (auto done = saga->run(); !done) return done.error();
  }
  if (on_.changes() == 0) return false;
  for (auto const* const rows : {sql::delete_events, sql::delete_compensations, sql::delete_alerts, sql::delete_actions}) {
    if (auto done = run_for(rows, id); !done) return done.error();
  }
  if (auto kept = keep_key(one, id); !kept) return kept.error();
  return true;
}

result<void> sqlite_retention::run_for(char const* statement, std::string const& id) {
  auto to = on_.use(statement);
  if (!to) return to.error();
  to->add_text(id);
  return to->run();
}

result<void> sqlite_retention::keep_key(finished_saga const& of, std::string const& id) {
  if (of.key.value().empty()) return {};
  auto to = on_.use(sql::keep_key);
  if (!to) return to.error();
  to->add_text(id).add_text(of.definition).add_text(of.key.value()).add(stored(of.ended_at));
  return to->run();
}

result<void> sqlite_retention::note(std::uint64_t sagas, saga_id newest) {
  auto to = on_.use(sql::note_deletion);
  if (!to) return to.error();
  auto const id = stored(newest);
  to->add(static_cast<std::int64_t>(sagas)).add_text(id);
  return to->run();
}

result<std::vector<sqlite_retention::kept_key>> sqlite_retention::kept_keys(saga_id after, timestamp ended_before) {
  auto rows = on_.use(sql::kept_keys);
  if (!rows) return rows.error();
  auto const from = after.text();
  auto const to = first_id_at(ended_before).text();
  rows->add_text(from).add_text(to).add(static_cast<std::int64_t>(retention::look_max));
  return read_all<kept_key>(*rows, [](query& row) -> result<kept_key> {
    kept_key one;
    one.saga = row.take_text();
    one.saga_name = row.take_text();
    one.key = row.take_text();
    one.ended_at = read_timestamp(row.take_integer());
    return one;
  });
}

result<void> sqlite_retention::expire(kept_key const& one) {
  {
    auto claim = on_.use(sql::delete_claim);
    if (!claim) return claim.error();
    claim->add_text(one.saga_name).add_text(one.key).add_text(one.saga);
    if (auto done = claim->run(); !done) return done;
  }
  return run_for(sql::delete_kept_key, one.saga);
}

result<key_stretch> sqlite_retention::expire_keys(shard, saga_id after, duration age, std::size_t most) {
  auto open = transaction::begin_write(on_);
  if (!open) return open.error();
  if (auto fine = check_epoch(); !fine) return fine.error();
  auto const ended_before = clock_() - age;
  auto const keys = kept_keys(after, ended_before);
  if (!keys) return keys.error();
  key_stretch found;
  found.last = after;
  found.more = keys->size() == retention::look_max;
  for (auto const& one : *keys) {
    if (found.deleted == most) {
      found.more = true;
      break;
    }
    auto const id = saga_id::parse(one.saga);
    if (!id) return error{errc::corrupt, "atone_kept_key: '" + one.saga + "' is no saga id"};
    found.last = *id;
    if (one.ended_at >= ended_before) {
      found.kept = true;
      continue;
    }
    if (auto done = expire(one); !done) return done.error();
    ++found.deleted;
  }
  if (auto done = open->commit(); !done) return done.error();
  return found;
}

}  // namespace atone::sqlite
