#include "store_batches.hpp"

namespace atone::test {
namespace {

constexpr std::int64_t origin = 1'764'500'000'000'000;  // 2025-11-30T10:53:20Z

}  // namespace

saga_id numbered(std::uint32_t number) {
  saga_id::bytes bytes{0x01, 0x93};
  for (std::size_t place = 0; place < 4; ++place) bytes[12 + place] = static_cast<std::uint8_t>(number >> (24 - 8 * place) & 255);
  return saga_id{bytes};
}

timestamp at(std::int64_t offset) {
  return timestamp{duration{origin + offset}};
}

saga_row row_of(std::uint32_t number, std::string key) {
  saga_row row;
  row.id = numbered(number);
  row.definition.name = "order-placed";
  row.definition.version = definition_version{3};
  row.definition.hash = content_hash::of("definition");
  row.key = business_key{std::move(key)};
  row.started_at = at(number);
  row.updated_at = row.started_at;
  row.last = sequence{1};
  return row;
}

saga_start start_of(std::uint32_t number, std::string key, std::string const& body) {
  saga_start start;
  start.row = row_of(number, std::move(key));
  start.body = content_hash::of(body);
  return start;
}

journal_record record_of(std::uint32_t number, std::uint32_t seq, std::string payload) {
  journal_record record;
  record.saga = numbered(number);
  event& one = record.event;
  one.kind = seq == 1 ? event_kind::started : event_kind::attempt_failed;
  one.seq = sequence{seq};
  one.cause = sequence{seq - 1};
  one.at = at(number) + duration{seq};
  one.random = 0xFFFF'0000'1234'5678 + seq;
  one.payload = std::move(payload);
  if (seq == 1) return record;
  one.step = step_path{"fan/profile/tag"};
  one.op = operation::compensate;
  one.n = attempt{seq};
  one.sureness = certainty::unknown;
  one.timer = timer_kind::retry;
  one.status = 503;
  one.retry_after = duration{1'500'000};
  one.text = "Überlast: 'quoted' \"doubly\" \\ back";
  one.actor = "anna";
  return record;
}

saga_change change_of(std::uint32_t number, saga_status status, std::uint32_t last) {
  saga_change change;
  change.row = row_of(number);
  change.row.status = status;
  change.row.updated_at = change.row.started_at + std::chrono::seconds{2};
  if (is_final(status)) change.row.ended_at = change.row.updated_at;
  change.row.last = sequence{last};
  return change;
}

compensation_entry compensation_of(std::uint32_t number, std::string step, compensation_status status) {
  compensation_entry entry;
  entry.saga = numbered(number);
  entry.step = step_path{std::move(step)};
  entry.trace = trace_id::of(entry.saga, entry.step, operation::compensate);
  entry.op = operation::compensate;
  entry.status = status;
  entry.created_at = at(number);
  entry.updated_at = at(number);
  return entry;
}

alert_row alert_of(std::uint32_t number, std::string kind, std::int64_t raised) {
  alert_row alert;
  alert.saga = numbered(number);
  alert.step = step_path{"features"};
  alert.kind = std::move(kind);
  alert.level = alert_level::page;
  alert.text = "served the last good version";
  alert.raised_at = at(raised);
  return alert;
}

last_output_row output_of(std::uint32_t number, std::string key, std::string output) {
  last_output_row row;
  row.saga_name = "order-placed";
  row.step = step_path{"features"};
  row.key = std::move(key);
  row.written_by = numbered(number);
  row.output = std::move(output);
  row.at = at(number);
  return row;
}

operator_action_row action_of(std::uint32_t number, std::string action) {
  operator_action_row row;
  row.saga = numbered(number);
  row.actor = "anna";
  row.action = std::move(action);
  row.step = step_path{"order"};
  row.note = "checked with the shop";
  row.outcome = "done";
  row.at = at(number);
  return row;
}

definition_row definition_of(std::string name, std::uint32_t version, std::string text) {
  definition_row row;
  row.ref.name = std::move(name);
  row.ref.version = definition_version{version};
  row.ref.hash = content_hash::of(text);
  row.text = std::move(text);
  row.published_at = at(version);
  return row;
}

journal_batch starting(std::uint32_t first, std::uint32_t count) {
  journal_batch batch;
  for (auto number = first; number < first + count; ++number) {
    batch.starts.push_back(start_of(number));
    batch.records.push_back(record_of(number, 1));
  }
  return batch;
}

journal_batch starting_with_key(std::uint32_t number, std::string key, std::string const& body) {
  journal_batch batch;
  batch.starts.push_back(start_of(number, std::move(key), body));
  batch.records.push_back(record_of(number, 1));
  return batch;
}

journal_batch recording(std::uint32_t number, std::uint32_t seq) {
  journal_batch batch;
  batch.records.push_back(record_of(number, seq));
  return batch;
}

}  // namespace atone::test
