#include "postgres/decoding.hpp"

#include <algorithm>
#include <array>

#include "postgres/session.hpp"

namespace atone::postgres {

std::string microseconds_of(std::string_view expression) {
  return "(extract(epoch from " + std::string{expression} + ") * 1000000)::bigint";
}

std::string const saga_columns = "shard, saga_id, definition, version, definition_hash, business_key, status, " +
                                 microseconds_of("started_at") + ", " + microseconds_of("updated_at") + ", " + microseconds_of("ended_at") +
                                 ", cause, output, crashes, last_seq, " + microseconds_of("wake_at");
std::string const event_columns = "kind, seq, cause, " + microseconds_of("at") +
                                  ", random, step, operation, attempt, sureness, timer, http_status, retry_after, payload, note, actor, "
                                  "format, saga_id";
std::string const compensation_columns = "shard, saga_id, step, operation, status, attempts, last_error, " + microseconds_of("created_at") +
                                         ", " + microseconds_of("updated_at") + ", trace_id";
std::string const alert_columns = "saga_id, step, kind, level, text, " + microseconds_of("raised_at");
std::string const action_columns = "saga_id, actor, action, step, note, outcome, " + microseconds_of("at");
std::string const definition_columns = "name, version, hash, text, " + microseconds_of("published_at");
std::string const output_columns = "saga_name, step, key, written_by, output, " + microseconds_of("at");

namespace {

// Reads a row's fields front to back.
class fields {
 public:
  explicit fields(pqxx::row const& row) : row_(row) {}

  pqxx::field next() { return row_[at_++]; }
  std::string text() { return next().c_str(); }
  std::string bytes() { return from_bytea_text(next().c_str()); }
  template <class Number>
  Number number() {
    return next().as<Number>();
  }
  template <class Enum>
  Enum code() {
    return static_cast<Enum>(number<std::int16_t>());
  }
  timestamp time() { return decode_time(next()); }
  std::optional<timestamp> maybe_time() {
    auto const field = next();
    if (field.is_null()) return std::nullopt;
    return decode_time(field);
  }
  saga_id id() { return decode_id(next()); }
  content_hash hash() { return decode_hash(next()); }

 private:
  pqxx::row const& row_;
  int at_ = 0;
};

error unreadable(std::string_view what, std::string_view why) {
  return error{errc::corrupt, "a stored " + std::string{what} + " can't be read back: " + std::string{why}};
}

template <class Value, class Read>
result<Value> reading(std::string_view what, pqxx::row const& row, Read const& read) {
  try {
    fields from{row};
    return read(from);
  } catch (std::exception const& failure) {
    return unreadable(what, failure.what());
  }
}

std::optional<compensation_status> parse_status(std::string_view word) {
  constexpr std::array known{compensation_status::pending, compensation_status::success, compensation_status::failed,
                             compensation_status::skipped};
  auto const at = std::find_if(known.begin(), known.end(), [&](auto status) { return name(status) == word; });
  if (at == known.end()) return std::nullopt;
  return *at;
}

}  // namespace

timestamp decode_time(pqxx::field const& field) {
  return timestamp{duration{field.as<std::int64_t>()}};
}

saga_id decode_id(pqxx::field const& field) {
  std::string hex = "\\x";
  for (char const character : std::string_view{field.c_str()}) {
    if (character != '-') hex += character;
  }
  auto const raw = from_bytea_text(hex);
  saga_id::bytes bytes{};
  if (raw.size() != bytes.size()) throw std::runtime_error{"a saga's id has " + std::to_string(raw.size()) + " bytes instead of 16"};
  std::copy(raw.begin(), raw.end(), bytes.begin());
  return saga_id{bytes};
}

content_hash decode_hash(pqxx::field const& field) {
  auto const raw = from_bytea_text(field.c_str());
  content_hash::bytes bytes{};
  if (raw.size() != bytes.size()) throw std::runtime_error{"a hash has " + std::to_string(raw.size()) + " bytes instead of 32"};
  std::copy(raw.begin(), raw.end(), bytes.begin());
  return content_hash{bytes};
}

std::string uuid_text(saga_id id) {
  auto const& bytes = id.value();
  return bytea_text({reinterpret_cast<char const*>(bytes.data()), bytes.size()}).substr(2);
}

result<saga_row> decode_saga(pqxx::row const& row) {
  return reading<saga_row>("saga", row, [](fields& from) {
    saga_row saga;
    saga.home = shard{from.number<std::uint16_t>()};
    saga.id = from.id();
    saga.definition.name = from.text();
    saga.definition.version = definition_version{from.number<std::uint32_t>()};
    saga.definition.hash = from.hash();
    saga.key = business_key{from.text()};
    saga.status = from.code<saga_status>();
    saga.started_at = from.time();
    saga.updated_at = from.time();
    saga.ended_at = from.maybe_time();
    saga.cause = from.text();
    saga.output = from.bytes();
    saga.crashes = static_cast<std::uint32_t>(from.number<std::int32_t>());
    saga.last = sequence{static_cast<std::uint32_t>(from.number<std::int32_t>())};
    saga.wake_at = from.maybe_time();
    return saga;
  });
}

result<event> decode_event(pqxx::row const& row) {
  return reading<event>("event", row, [](fields& from) {
    event read;
    read.kind = from.code<event_kind>();
    read.seq = sequence{static_cast<std::uint32_t>(from.number<std::int32_t>())};
    read.cause = sequence{static_cast<std::uint32_t>(from.number<std::int32_t>())};
    read.at = from.time();
    read.random = static_cast<std::uint64_t>(from.number<std::int64_t>());
    read.step = step_path{from.text()};
    read.op = from.code<operation>();
    read.n = attempt{static_cast<std::uint32_t>(from.number<std::int32_t>())};
    read.sureness = from.code<certainty>();
    read.timer = from.code<timer_kind>();
    read.status = from.number<std::int32_t>();
    read.retry_after = duration{from.number<std::int64_t>()};
    read.payload = from.bytes();
    read.text = from.text();
    read.actor = from.text();
    return read;
  });
}

result<compensation_entry> decode_compensation(pqxx::row const& row) {
  return reading<compensation_entry>("compensation", row, [](fields& from) {
    compensation_entry entry;
    entry.home = shard{from.number<std::uint16_t>()};
    entry.saga = from.id();
    entry.step = step_path{from.text()};
    auto const op = from.text();
    auto const status = from.text();
    auto const parsed_op = parse_operation(op);
    auto const parsed_status = parse_status(status);
    if (!parsed_op || !parsed_status) throw std::runtime_error{"operation '" + op + "', status '" + status + "'"};
    entry.op = *parsed_op;
    entry.status = *parsed_status;
    entry.attempts = static_cast<std::uint32_t>(from.number<std::int32_t>());
    entry.last_error = from.text();
    entry.created_at = from.time();
    entry.updated_at = from.time();
    // The trace follows from the three; a row whose trace does not was not written by us.
    entry.trace = trace_id::of(entry.saga, entry.step, entry.op);
    if (entry.trace.text() != from.text()) throw std::runtime_error{"its trace id is not that of its step and operation"};
    return entry;
  });
}

result<alert_row> decode_alert(pqxx::row const& row) {
  return reading<alert_row>("alert", row, [](fields& from) {
    alert_row alert;
    alert.saga = from.id();
    alert.step = step_path{from.text()};
    alert.kind = from.text();
    alert.level = from.code<alert_level>();
    alert.text = from.text();
    alert.raised_at = from.time();
    return alert;
  });
}

result<operator_action_row> decode_action(pqxx::row const& row) {
  return reading<operator_action_row>("operator action", row, [](fields& from) {
    operator_action_row action;
    action.saga = from.id();
    action.actor = from.text();
    action.action = from.text();
    action.step = step_path{from.text()};
    action.note = from.text();
    action.outcome = from.text();
    action.at = from.time();
    return action;
  });
}

result<definition_row> decode_definition(pqxx::row const& row) {
  return reading<definition_row>("definition", row, [](fields& from) {
    definition_row definition;
    definition.ref.name = from.text();
    definition.ref.version = definition_version{from.number<std::uint32_t>()};
    definition.ref.hash = from.hash();
    definition.text = from.text();
    definition.published_at = from.time();
    return definition;
  });
}

result<last_output_row> decode_output(pqxx::row const& row) {
  return reading<last_output_row>("last output", row, [](fields& from) {
    last_output_row output;
    output.saga_name = from.text();
    output.step = step_path{from.text()};
    output.key = from.text();
    output.written_by = from.id();
    output.output = from.bytes();
    output.at = from.time();
    return output;
  });
}

}  // namespace atone::postgres
