#include "sqlite/rows.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <bit>

#include "sqlite/failure.hpp"

namespace atone::sqlite {
namespace {

error bad(query const& from, std::string_view what) {
  return unreadable(sqlite3_db_handle(from.handle()), what);
}

}  // namespace

std::int64_t stored(timestamp at) {
  return at.time_since_epoch().count();
}
timestamp read_timestamp(std::int64_t microseconds) {
  return timestamp{duration{microseconds}};
}
std::string_view stored(content_hash const& hash) {
  return {reinterpret_cast<char const*>(hash.value().data()), hash.value().size()};
}
std::string stored(saga_id const& id) {
  return id.empty() ? std::string{} : id.text();
}

result<saga_id> read_id(query& from) {
  auto const text = from.peek_text();
  if (text.empty()) return saga_id{};
  if (auto const id = saga_id::parse(text)) return *id;
  return bad(from, "found '" + std::string{text.substr(0, 40)} + "' where a saga id was expected");
}

result<content_hash> read_hash(query& from) {
  auto const bytes = from.peek_text();
  content_hash::bytes value{};
  if (bytes.size() != value.size()) return bad(from, "found a hash of " + std::to_string(bytes.size()) + " bytes; expected 32");
  std::copy(bytes.begin(), bytes.end(), value.begin());
  return content_hash{value};
}

result<saga_row> read_saga(query& from) {
  saga_row row;
  auto const id = read_id(from);
  if (!id) return id.error();
  row.id = *id;
  row.definition.name = from.take_text();
  row.definition.version = definition_version{static_cast<std::uint32_t>(from.take_integer())};
  auto const hash = read_hash(from);
  if (!hash) return hash.error();
  row.definition.hash = *hash;
  row.key = business_key{from.take_text()};
  row.status = static_cast<saga_status>(from.take_integer());
  row.started_at = read_timestamp(from.take_integer());
  row.updated_at = read_timestamp(from.take_integer());
  if (auto const ended = from.take_optional()) row.ended_at = read_timestamp(*ended);
  row.cause = from.take_text();
  row.output = from.take_text();
  row.crashes = static_cast<std::uint32_t>(from.take_integer());
  row.last = sequence{static_cast<std::uint32_t>(from.take_integer())};
  if (auto const wakes = from.take_optional()) row.wake_at = read_timestamp(*wakes);
  return row;
}

result<event> read_event(query& from) {
  event one;
  one.seq = sequence{static_cast<std::uint32_t>(from.take_integer())};
  auto const format = from.take_integer();
  if (format != event_format) {
    return bad(from, "event " + std::to_string(one.seq.value()) + " has format " + std::to_string(format) + "; this build reads " +
                         std::to_string(event_format));
  }
  one.kind = static_cast<event_kind>(from.take_integer());
  one.cause = sequence{static_cast<std::uint32_t>(from.take_integer())};
  one.at = read_timestamp(from.take_integer());
  one.random = std::bit_cast<std::uint64_t>(from.take_integer());
  one.step = step_path{from.take_text()};
  one.op = static_cast<operation>(from.take_integer());
  one.n = attempt{static_cast<std::uint32_t>(from.take_integer())};
  one.sureness = static_cast<certainty>(from.take_integer());
  one.timer = static_cast<timer_kind>(from.take_integer());
  one.status = static_cast<std::int32_t>(from.take_integer());
  one.retry_after = duration{from.take_integer()};
  one.payload = from.take_text();
  one.text = from.take_text();
  one.actor = from.take_text();
  return one;
}

result<compensation_entry> read_compensation(query& from, saga_id saga) {
  compensation_entry entry;
  entry.saga = saga;
  auto const trace = from.take_text();
  entry.step = step_path{from.take_text()};
  entry.op = static_cast<operation>(from.take_integer());
  entry.trace = trace_id::of(saga, entry.step, entry.op);
  if (entry.trace.text() != trace)
    return bad(from, "compensation " + trace + " of saga " + saga.text() + " does not fit its step and operation");
  entry.status = static_cast<compensation_status>(from.take_integer());
  entry.attempts = static_cast<std::uint32_t>(from.take_integer());
  entry.last_error = from.take_text();
  entry.created_at = read_timestamp(from.take_integer());
  entry.updated_at = read_timestamp(from.take_integer());
  return entry;
}

result<alert_row> read_alert(query& from) {
  alert_row row;
  auto const id = read_id(from);
  if (!id) return id.error();
  row.saga = *id;
  row.step = step_path{from.take_text()};
  row.kind = from.take_text();
  row.level = static_cast<alert_level>(from.take_integer());
  row.text = from.take_text();
  row.raised_at = read_timestamp(from.take_integer());
  return row;
}

result<operator_action_row> read_action(query& from, saga_id saga) {
  operator_action_row row;
  row.saga = saga;
  row.actor = from.take_text();
  row.action = from.take_text();
  row.step = step_path{from.take_text()};
  row.note = from.take_text();
  row.outcome = from.take_text();
  row.at = read_timestamp(from.take_integer());
  return row;
}

result<definition_row> read_definition(query& from) {
  definition_row row;
  row.ref.name = from.take_text();
  row.ref.version = definition_version{static_cast<std::uint32_t>(from.take_integer())};
  auto const hash = read_hash(from);
  if (!hash) return hash.error();
  row.ref.hash = *hash;
  row.text = from.take_text();
  row.published_at = read_timestamp(from.take_integer());
  return row;
}

result<last_output_row> read_output(query& from) {
  last_output_row row;
  row.saga_name = from.take_text();
  row.step = step_path{from.take_text()};
  row.key = from.take_text();
  auto const id = read_id(from);
  if (!id) return id.error();
  row.written_by = *id;
  row.output = from.take_text();
  row.at = read_timestamp(from.take_integer());
  return row;
}

std::string write_losers(std::vector<start_loser> const& losers) {
  std::string lines;
  for (auto const& one : losers) lines += one.refused.text() + ' ' + one.existing.text() + ' ' + one.body.text() + '\n';
  return lines;
}

result<std::vector<start_loser>> read_losers(query& from) {
  constexpr std::size_t id = saga_id::text_size;
  constexpr std::size_t line = id + 1 + id + 1 + 64 + 1;
  auto const text = from.peek_text();
  std::vector<start_loser> losers;
  if (text.size() % line != 0) return bad(from, "the losers of the last batch can't be read");
  for (std::size_t at = 0; at < text.size(); at += line) {
    auto const refused = saga_id::parse(text.substr(at, id));
    auto const existing = saga_id::parse(text.substr(at + id + 1, id));
    auto const body = content_hash::parse(text.substr(at + 2 * (id + 1), 64));
    if (!refused || !existing || !body) return bad(from, "the losers of the last batch can't be read");
    start_loser& one = losers.emplace_back();
    one.refused = *refused;
    one.existing = *existing;
    one.body = *body;
  }
  return losers;
}

}  // namespace atone::sqlite
