#include "dump_rows.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <atone/assert.hpp>

namespace atone::dump {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t shown_max = 40;  // of a value that is wrong

constexpr std::array migration_names{"number"sv};
constexpr std::array definition_names{"name"sv, "version"sv, "hash"sv, "text"sv, "published_at"sv};
constexpr std::array saga_names{"shard"sv,      "saga_id"sv,  "definition"sv, "version"sv, "definition_hash"sv, "status"sv, "started_at"sv,
                                "updated_at"sv, "ended_at"sv, "cause"sv,      "crashes"sv, "last_seq"sv,        "wake_at"sv};
constexpr std::array event_names{"saga_id"sv,     "format"sv,      "kind"sv,      "seq"sv,     "cause"sv,    "at"sv,
                                 "random"sv,      "step"sv,        "operation"sv, "attempt"sv, "sureness"sv, "timer"sv,
                                 "http_status"sv, "retry_after"sv, "payload"sv,   "note"sv,    "actor"sv};
constexpr std::array deletion_names{"sagas"sv, "newest"sv};

// Reads a row's fields front to back. The first value that is wrong is kept; whoever reads asks for it at the end.
class row_reader {
 public:
  row_reader(columns names, copy_fields const& fields) : names_(names), fields_(fields) { ATONE_ASSERT(names.size() == fields.size()); }

  std::string text() {
    auto const& field = next();
    if (!field) return wrong("null", "text");
    return *field;
  }
  template <class Number>
  Number number() {
    return value<Number>(parse_number<Number>, "a number");
  }
  // Of an enumeration whose values go from `first` to `last`.
  template <class Enum>
  Enum code(Enum first, Enum last) {
    auto const low = static_cast<std::int16_t>(first);
    auto const high = static_cast<std::int16_t>(last);
    auto const read = number<std::int16_t>();
    if (read < low || read > high) wrong(std::to_string(read), std::to_string(low) + " to " + std::to_string(high));
    return static_cast<Enum>(read);
  }
  std::string bytes() { return value<std::string>(parse_bytea, "bytes, as in \\x6869"); }
  saga_id id() { return value<saga_id>(parse_uuid, "a saga's id as a uuid"); }
  timestamp time() { return value<timestamp>(parse_timestamptz, "a time, as in 2026-01-01 00:00:00+00"); }
  std::optional<timestamp> maybe_time() {
    if (fields_[at_]) return time();
    ++at_;
    return std::nullopt;
  }
  content_hash hash() {
    auto const raw = bytes();
    content_hash::bytes made{};
    if (raw.size() == made.size()) {
      std::copy(raw.begin(), raw.end(), made.begin());
    } else {
      wrong(std::to_string(raw.size()) + " bytes", "a hash of 32");
    }
    return content_hash{made};
  }

  template <class Row>
  result<Row> finish(Row&& row) const {
    if (!failure_.empty()) return error{errc::corrupt, failure_};
    return std::forward<Row>(row);
  }

 private:
  std::optional<std::string> const& next() { return fields_[at_++]; }

  std::string wrong(std::string_view found, std::string_view expected) {
    if (failure_.empty()) {
      failure_ = "column '" + std::string{names_[at_ - 1]} + "': found '" + std::string{found.substr(0, shown_max)} + "'; expected " +
                 std::string{expected};
    }
    return {};
  }
  template <class Value, class Parse>
  Value value(Parse const& parse, std::string_view expected) {
    auto const& field = next();
    auto made = field ? parse(*field) : std::nullopt;
    if (made) return std::move(*made);
    wrong(field ? *field : "null", expected);
    return Value{};
  }

  columns names_;
  copy_fields const& fields_;
  std::size_t at_ = 0;
  std::string failure_;
};

}  // namespace

columns migration_columns() {
  return migration_names;
}
columns definition_columns() {
  return definition_names;
}
columns saga_columns() {
  return saga_names;
}
columns event_columns() {
  return event_names;
}
columns deletion_columns() {
  return deletion_names;
}

result<std::uint32_t> read_migration(copy_fields const& fields) {
  row_reader from{migration_names, fields};
  auto const number = from.number<std::uint32_t>();
  return from.finish(std::uint32_t{number});
}

result<definition_row> read_definition(copy_fields const& fields) {
  row_reader from{definition_names, fields};
  definition_row made;
  made.ref.name = from.text();
  made.ref.version = definition_version{from.number<std::uint32_t>()};
  made.ref.hash = from.hash();
  made.text = from.text();
  made.published_at = from.time();
  return from.finish(std::move(made));
}

result<saga_row> read_saga(copy_fields const& fields) {
  row_reader from{saga_names, fields};
  saga_row made;
  made.home = shard{from.number<std::uint16_t>()};
  made.id = from.id();
  made.definition.name = from.text();
  made.definition.version = definition_version{from.number<std::uint32_t>()};
  made.definition.hash = from.hash();
  made.status = from.code(saga_status::running, saga_status::parked);
  made.started_at = from.time();
  made.updated_at = from.time();
  made.ended_at = from.maybe_time();
  made.cause = from.text();
  made.crashes = from.number<std::uint32_t>();
  made.last = sequence{from.number<std::uint32_t>()};
  made.wake_at = from.maybe_time();
  return from.finish(std::move(made));
}

result<stored_event> read_event(copy_fields const& fields) {
  row_reader from{event_names, fields};
  stored_event made;
  made.saga = from.id();
  from.code(event_format, event_format);
  auto& read = made.event;
  read.kind = from.code(event_kind::started, event_kind::lock_granted);
  read.seq = sequence{from.number<std::uint32_t>()};
  read.cause = sequence{from.number<std::uint32_t>()};
  read.at = from.time();
  read.random = static_cast<std::uint64_t>(from.number<std::int64_t>());
  read.step = step_path{from.text()};
  read.op = from.code(operation::none, operation::fallback);
  read.n = attempt{from.number<std::uint32_t>()};
  read.sureness = from.code(certainty::none, certainty::unknown);
  read.timer = from.code(timer_kind::none, timer_kind::deadline);
  read.status = from.number<std::int32_t>();
  read.retry_after = duration{from.number<std::int64_t>()};
  read.payload = from.bytes();
  read.text = from.text();
  read.actor = from.text();
  return from.finish(std::move(made));
}

result<deletion_record> read_deletion(copy_fields const& fields) {
  row_reader from{deletion_names, fields};
  deletion_record made;
  made.sagas = from.number<std::uint64_t>();
  made.newest = from.id();
  return from.finish(std::move(made));
}

}  // namespace atone::dump
