#include "postgres/writer.hpp"

#include "common/batch_check.hpp"
#include "postgres/decoding.hpp"
#include "postgres/errors.hpp"
#include "postgres/load.hpp"
#include "postgres/migrations.hpp"
#include "postgres/pause.hpp"

namespace atone::postgres {
namespace {

std::string number_text(std::uint64_t value) {
  return std::to_string(value);
}

result<commit_report> decode_report(pqxx::result const& rows) {
  try {
    commit_report report;
    report.database_time = decode_time(rows.at(0)[0]);
    for (auto const& row : rows) {
      if (row[1].is_null()) continue;
      start_loser loser;
      loser.refused = decode_id(row[1]);
      loser.existing = decode_id(row[2]);
      loser.body = decode_hash(row[3]);
      report.losers.push_back(loser);
    }
    return report;
  } catch (std::exception const& failure) {
    return error{errc::corrupt, std::string{"the answer to a commit can't be read: "} + failure.what()};
  }
}

// The contract of commit() knows no `serialization`: nothing was written, and the same call may work later.
error as_unavailable(error failure) {
  failure.code = errc::unavailable;
  failure.message += "; given up for now, nothing was written";
  return failure;
}

}  // namespace

result<std::unique_ptr<journal>> writer::open(endpoint to, retry_limits limits) {
  std::unique_ptr<writer> made{new writer{std::move(to), limits}};
  if (auto connected = made->connect(); !connected) return connected.error();
  return std::unique_ptr<journal>{std::move(made)};
}

result<void> writer::connect() {
  session_.reset();
  auto opened = session::open(to_, session_kind::writer);
  if (!opened) return opened.error();
  if (auto fine = check_schema(**opened); !fine) return fine;
  auto const types = find_row_types(**opened);
  if (!types) return types.error();
  auto const layout = (*opened)->run("select shards from atone.layout");
  if (!layout) return layout.error();
  types_ = *types;
  shards_ = (*layout)[0][0].as<std::uint16_t>();
  session_ = std::move(*opened);
  return {};
}

result<void> writer::ensure_connected() {
  if (session_ && !session_->lost()) return {};
  if (auto connected = connect(); !connected) return connected;
  if (self_.epoch.value() == 0) return {};
  auto resumed = resume_epoch();
  if (!resumed) session_.reset();
  return resumed;
}

// Errors: fenced, when another took over meanwhile.
result<void> writer::resume_epoch() {
  end_registered_backend();  // first: it may hold the writer's row
  auto const resumed = session_->query("select old_pid, old_start from atone.resume($1, $2)",
                                       {number_text(self_.number.value()), number_text(self_.epoch.value())});
  if (!resumed) return resumed.error();
  return {};
}

// Only that of this epoch: a writer that was taken over must not end the new owner's.
void writer::end_registered_backend() {
  auto const old = session_->query("select backend_pid, backend_start from atone.writer where id = $1 and epoch = $2",
                                   {number_text(self_.number.value()), number_text(self_.epoch.value())});
  if (old && !old->empty()) end_backend((*old)[0][0].c_str(), (*old)[0][1].c_str());
}

// Only frees what the old backend still locks sooner: it could not commit in any case. So a failure (no right to end
// another role's backend, a backend that does not react) is not one of the caller's.
void writer::end_backend(std::string const& pid, std::string const& start) {
  static_cast<void>(session_->query("select atone.end_backend($1, $2, $3)",
                                    {pid, start, number_text(static_cast<std::uint64_t>(limits_.end_backend_wait.count()))}));
}

// Safe to repeat: a take-over whose answer was lost is followed by the next epoch.
result<epoch> writer::take_over(node_id const& node) {
  rising_pause conflict{limits_.first_pause, limits_.conflict_total};
  rising_pause reconnect{limits_.first_pause, limits_.reconnect_total};
  for (;;) {
    self_ = writer_identity{};  // a reconnect must not resume the old epoch
    auto taken = take_over_once(node);
    if (taken) return taken;
    bool const lost = session_ && session_->lost();  // a server that can't be reached at all is the caller's to wait for
    if (taken.error().code == errc::serialization) {
      end_holder(node);
      if (!conflict.wait()) return as_unavailable(taken.error());
    } else if (!lost || !reconnect.wait()) {
      return taken;
    }
  }
}

void writer::end_holder(node_id const& node) {
  auto const held = session_->query("select backend_pid, backend_start from atone.writer where node = $1", {node.value()});
  if (held && !held->empty()) end_backend((*held)[0][0].c_str(), (*held)[0][1].c_str());
}

// The epoch first, then the old backend: once fenced it can't register again in between.
result<epoch> writer::take_over_once(node_id const& node) {
  if (auto ready = ensure_connected(); !ready) return ready.error();
  auto const taken = session_->query("select writer, new_epoch, old_pid, old_start from atone.take_over($1)", {node.value()});
  if (!taken) return taken.error();
  self_.number = writer_number{(*taken)[0][0].as<std::uint16_t>()};
  self_.epoch = epoch{(*taken)[0][1].as<std::uint64_t>()};
  // What it has not committed (keys, rows) would be in the way.
  end_backend((*taken)[0][2].c_str(), (*taken)[0][3].c_str());
  return self_.epoch;
}

result<commit_report> writer::commit(journal_batch const& batch, batch_number number) {
  ATONE_ASSERT(number.value() > 0);
  if (self_.epoch.value() == 0) return error{errc::fenced, "no take_over came before this commit"};
  if (auto fine = check_batch_here(batch); !fine) return fine.error();
  return repeat([&](session& on) { return call_commit(on, batch, number); });
}

result<void> writer::check_batch_here(journal_batch const& batch) const {
  if (auto fine = check_batch(batch); !fine) return fine;
  return check_shards(batch, shards_);
}

result<commit_report> writer::repeat(transaction const& work) {
  rising_pause conflict{limits_.first_pause, limits_.conflict_total};
  rising_pause reconnect{limits_.first_pause, limits_.reconnect_total};
  bool sent = false;
  for (;;) {
    auto done = attempt(work, sent);
    if (done) return done;
    auto const& failure = done.error();
    switch (failure.code) {
      case errc::serialization:
        if (!conflict.wait()) return sent ? error{errc::outcome_unknown, failure.message} : as_unavailable(failure);
        break;
      case errc::unavailable:
      case errc::outcome_unknown:
        // Still connected: the server is out of something (disk, time), which repeating at once would not mend.
        if (session_ && !session_->lost()) return done;
        if (!reconnect.wait()) return error{sent ? errc::outcome_unknown : errc::unavailable, failure.message};
        break;
      default: return done;
    }
  }
}

// `sent` stays true from an attempt whose outcome is open until a later one has settled it.
result<commit_report> writer::attempt(transaction const& work, bool& sent) {
  if (auto ready = ensure_connected(); !ready) return ready.error();
  sent = false;  // connected and registered: what took effect is known to the call below
  auto done = work(*session_);
  if (!done && session_->lost()) sent = done.error().code == errc::outcome_unknown;
  return done;
}

result<commit_report> writer::call_commit(session& on, journal_batch const& batch, batch_number number) {
  auto const rows = on.call(commit_statement, encode_batch(batch, self_, number, types_, shards_));
  if (!rows && is_of_another_schema(on.last_state())) return error{errc::unsupported, rows.error().message};
  if (!rows) return rows.error();
  return decode_report(*rows);
}

result<void> writer::load_open(std::vector<shard> const& of, saga_sink const& sink) {
  bool begun = false;
  auto const noting = [&](open_saga&& one) {
    begun = true;
    sink(std::move(one));
  };
  for (int left = 1;; --left) {
    if (auto ready = ensure_connected(); !ready) return ready.error();
    auto done = load_open_sagas(*session_, of, noting);
    // From a new connection only as long as nothing was handed out: no saga comes twice.
    if (done || !session_->lost() || begun || left == 0) return done;
  }
}

template <class Value>
result<Value> writer::read(std::function<result<Value>(session& on)> const& work) {
  for (int left = 1;; --left) {
    if (auto ready = ensure_connected(); !ready) return ready.error();
    auto done = work(*session_);
    if (done || !session_->lost() || left == 0) return done;
  }
}

result<void> writer::publish(definition_row const& row) {
  auto const hash = row.ref.hash.value();
  std::string const hash_text = bytea_text({reinterpret_cast<char const*>(hash.data()), hash.size()});
  auto const version = number_text(row.ref.version.value());
  auto const stored = read<bool>([&](session& on) -> result<bool> {
    auto const inserted = on.query(
        "insert into atone.definition (name, version, hash, text, published_at) "
        "values ($1, $2, $3, $4, timestamptz 'epoch' + $5::bigint * interval '1 microsecond') on conflict do nothing",
        {row.ref.name, version, hash_text, row.text, std::to_string(row.published_at.time_since_epoch().count())});
    if (!inserted) return inserted.error();
    auto const found =
        on.query("select hash = $3 from atone.definition where name = $1 and version = $2", {row.ref.name, version, hash_text});
    if (!found) return found.error();
    return !found->empty() && (*found)[0][0].as<bool>();
  });
  if (!stored) return stored.error();
  if (*stored) return {};
  return error{errc::conflict, "definition " + row.ref.name + " version " + version +
                                   " is published with other content; published versions don't change: give it the next number"};
}

// Repeating it finds the shards given away already, and changes nothing.
result<void> writer::hand_over(std::vector<shard_move> const& moves) {
  if (self_.epoch.value() == 0) return error{errc::fenced, "no take_over came before this hand-over"};
  std::string shards = "{";
  std::string takers = "{";
  for (auto const& one : moves) {
    char const* const comma = shards.size() > 1 ? "," : "";
    shards += comma + std::to_string(one.shard.value());
    takers += comma + (one.to ? std::to_string(one.to->value()) : std::string{"null"});
  }
  auto const given = read<bool>([&](session& on) -> result<bool> {
    auto const done = on.query("select atone.hand_over($1, $2, $3, $4)",
                               {number_text(self_.number.value()), number_text(self_.epoch.value()), shards + '}', takers + '}'});
    if (!done) return done.error();
    return true;
  });
  if (!given) return given.error();
  return {};
}

result<std::vector<inbox_start>> writer::take_inbox(std::vector<shard> const& of, std::uint32_t limit, std::uint64_t after) {
  auto const bounded = std::min(limit, inbox_start::take_max);
  return read<std::vector<inbox_start>>([&](session& on) { return load_inbox(on, of, shards_, bounded, after); });
}

result<timestamp> writer::now() {
  return read<timestamp>([](session& on) -> result<timestamp> {
    auto const answer = on.run("select " + microseconds_of("clock_timestamp()"));
    if (!answer) return answer.error();
    return decode_time((*answer)[0][0]);
  });
}

}  // namespace atone::postgres
