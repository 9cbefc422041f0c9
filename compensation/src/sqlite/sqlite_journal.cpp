// The writing side on SQLite. BEGIN IMMEDIATE takes the file's one write lock, so nothing can come between the look at the
// writer's row and the fence; the fence is still the last statement, as on every store.
#include <functional>

#include "common/batch_check.hpp"
#include "sqlite/batch_writer.hpp"
#include "sqlite/rows.hpp"
#include "sqlite/sqlite_retention.hpp"
#include "sqlite/sqlite_store.hpp"
#include "sqlite/statements.hpp"
#include "sqlite/user_statement.hpp"

namespace atone::sqlite {
namespace {

// How many open sagas are held in memory at once while loading.
constexpr std::int64_t load_chunk = 64;

class sqlite_journal final : public journal {
 public:
  sqlite_journal(connection on, store_clock clock)
      : on_(std::move(on)), authorizer_(on_), clock_(std::move(clock)), retention_(on_, clock_, epoch_) {}

  result<epoch> take_over(node_id const& node) override;
  result<commit_report> commit(journal_batch const& batch, batch_number number) override;
  result<commit_report> commit_with_sql(sql_statement const& statement, answer_to_batch const& on_success, batch_number number) override;
  result<void> load_open(std::vector<shard> const& of, saga_sink const& sink) override;
  result<void> publish(definition_row const& row) override;
  result<timestamp> now() override { return clock_(); }
  std::uint16_t shards() const override { return 1; }
  retention* own_retention() override { return &retention_; }

 private:
  using losers_of_work = std::function<result<std::vector<start_loser>>()>;

  result<commit_report> in_transaction(batch_number number, losers_of_work const& work);
  result<std::optional<commit_report>> admit(batch_number number);
  result<void> fence(commit_report const& report, batch_number number);
  result<std::vector<open_saga>> load_chunk_after(std::string const& after);
  result<void> load_rest(open_saga& of);

  connection on_;
  authorizer authorizer_;
  store_clock clock_;
  epoch epoch_;
  sqlite_retention retention_;  // with the members above
};

result<epoch> sqlite_journal::take_over(node_id const& node) {
  auto open = transaction::begin_write(on_);
  if (!open) return open.error();
  epoch taken;
  {
    auto raise = on_.use(sql::take_over);
    if (!raise) return raise.error();
    raise->add_text(node.value());
    auto const row = raise->step();
    if (!row) return row.error();
    if (!*row) return error{errc::corrupt, "the writer's row is missing from atone_writer"};
    taken = epoch{static_cast<std::uint64_t>(raise->take_integer())};
    if (auto done = raise->run(); !done) return done.error();
  }
  if (auto done = open->commit(); !done) return done.error();
  ATONE_ASSERT(taken > epoch_);
  epoch_ = taken;
  return taken;
}

result<commit_report> sqlite_journal::commit(journal_batch const& batch, batch_number number) {
  if (auto const fine = check_batch(batch); !fine) return fine.error();
  return in_transaction(number, [&] { return batch_writer{on_}.write(batch); });
}

result<commit_report> sqlite_journal::commit_with_sql(sql_statement const& statement, answer_to_batch const& on_success,
                                                      batch_number number) {
  return in_transaction(number, [&]() -> result<std::vector<start_loser>> {
    auto const answer = run_user_statement(on_, authorizer_, statement);
    if (!answer) return answer.error();
    auto const batch = on_success(*answer);
    if (auto const fine = check_batch(batch); !fine) return fine.error();
    return batch_writer{on_}.write(batch);
  });
}

result<commit_report> sqlite_journal::in_transaction(batch_number number, losers_of_work const& work) {
  auto open = transaction::begin_write(on_);
  if (!open) return open.error();
  auto admitted = admit(number);
  if (!admitted) return admitted.error();
  if (*admitted) return std::move(**admitted);  // this very batch took effect before
  auto losers = work();
  if (!losers) return losers.error();
  commit_report report;
  report.losers = std::move(*losers);
  report.database_time = clock_();
  if (auto fenced = fence(report, number); !fenced) return fenced.error();
  if (auto done = open->commit(); !done) return done.error();
  return report;
}

// Nothing: the batch is new and its turn has come. A report: it was committed before.
result<std::optional<commit_report>> sqlite_journal::admit(batch_number number) {
  auto writer = on_.use(sql::read_writer);
  if (!writer) return writer.error();
  auto const row = writer->step();
  if (!row) return row.error();
  if (!*row) return error{errc::corrupt, "the writer's row is missing from atone_writer"};
  epoch const current{static_cast<std::uint64_t>(writer->take_integer())};
  batch_number const last{static_cast<std::uint64_t>(writer->take_integer())};
  if (epoch_.value() == 0 || current != epoch_) return fenced_at(epoch_, current);
  if (number.value() == last.value() + 1) return std::optional<commit_report>{};
  if (number != last || last.value() == 0) return wrong_batch_number(number, last);
  commit_report report;
  report.database_time = read_timestamp(writer->take_integer());
  auto losers = read_losers(*writer);
  if (!losers) return losers.error();
  report.losers = std::move(*losers);
  return std::optional<commit_report>{std::move(report)};
}

result<void> sqlite_journal::fence(commit_report const& report, batch_number number) {
  auto last = on_.use(sql::fence);
  if (!last) return last.error();
  auto const losers = write_losers(report.losers);
  last->add(static_cast<std::int64_t>(number.value())).add(stored(report.database_time)).add_text(losers);
  last->add(static_cast<std::int64_t>(epoch_.value()));
  if (auto done = last->run(); !done) return done;
  if (on_.changes() != 1) return fenced_at(epoch_, epoch{epoch_.value() + 1});
  return {};
}

// One shard has all sagas.
result<void> sqlite_journal::load_open(std::vector<shard> const&, saga_sink const& sink) {
  std::string after;
  for (;;) {
    auto chunk = load_chunk_after(after);
    if (!chunk) return chunk.error();
    if (chunk->empty()) return {};
    after = chunk->back().row.id.text();
    for (auto& saga : *chunk) sink(std::move(saga));
  }
}

result<std::vector<open_saga>> sqlite_journal::load_chunk_after(std::string const& after) {
  auto open = transaction::begin_read(on_);
  if (!open) return open.error();
  std::vector<open_saga> chunk;
  {
    auto rows = on_.use(sql::open_sagas);
    if (!rows) return rows.error();
    rows->add_text(after).add(load_chunk);
    auto found = read_all<saga_row>(*rows, read_saga);
    if (!found) return found.error();
    chunk.resize(found->size());
    for (std::size_t at = 0; at < chunk.size(); ++at) chunk[at].row = std::move((*found)[at]);
  }
  for (auto& saga : chunk) {
    if (saga.row.wake_at) continue;  // it rests
    if (auto done = load_rest(saga); !done) return done.error();
  }
  if (auto done = open->commit(); !done) return done.error();
  return chunk;
}

result<void> sqlite_journal::load_rest(open_saga& of) {
  auto const id = stored(of.row.id);
  auto events = on_.use(sql::events_of);
  if (!events) return events.error();
  events->add_text(id);
  auto found = read_all<event>(*events, read_event);
  if (!found) return found.error();
  of.events = std::move(*found);
  auto entries = on_.use(sql::compensations_of);
  if (!entries) return entries.error();
  entries->add_text(id);
  auto log = read_all<compensation_entry>(*entries, [&](query& from) { return read_compensation(from, of.row.id); });
  if (!log) return log.error();
  of.compensations = std::move(*log);
  return {};
}

result<void> sqlite_journal::publish(definition_row const& row) {
  auto open = transaction::begin_write(on_);
  if (!open) return open.error();
  {
    auto insert = on_.use(sql::insert_definition);
    if (!insert) return insert.error();
    insert->add_text(row.ref.name).add(row.ref.version.value()).add_bytes(stored(row.ref.hash)).add_text(row.text);
    insert->add(stored(row.published_at));
    if (auto done = insert->run(); !done) return done;
  }
  if (on_.changes() == 0) {
    auto known = on_.use(sql::definition_version);
    if (!known) return known.error();
    known->add_text(row.ref.name).add(row.ref.version.value());
    if (auto const found = known->step(); !found) return found.error();
    auto const stored_row = read_definition(*known);
    if (!stored_row) return stored_row.error();
    if (stored_row->ref.hash != row.ref.hash) return already_published(row.ref);
  }
  return open->commit();
}

}  // namespace

std::unique_ptr<journal> make_sqlite_journal(connection on, store_clock clock) {
  return std::make_unique<sqlite_journal>(std::move(on), std::move(clock));
}

}  // namespace atone::sqlite
