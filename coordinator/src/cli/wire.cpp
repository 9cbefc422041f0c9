#include "cli/wire.hpp"

#include <algorithm>
#include <optional>

namespace atone::cli {
namespace {

// The value whose name() is this text, among 0 … last.
template <class Enum>
Enum named(std::string_view text, Enum otherwise, int last) {
  for (int value = 0; value <= last; ++value) {
    if (name(static_cast<Enum>(value)) == text) return static_cast<Enum>(value);
  }
  return otherwise;
}

timestamp time_of(json::value const& from, std::string_view key) {
  return parse_timestamp(text_of(from, key)).value_or(timestamp{});
}

step_view read_step(json::value const& from) {
  step_view step;
  step.path = step_path{text_of(from, "path")};
  step.phase = named(text_of(from, "phase"), run_phase::pending, static_cast<int>(run_phase::parked));
  step.undo = named(text_of(from, "undo"), undo_phase::none, static_cast<int>(undo_phase::skipped));
  step.attempts = static_cast<std::uint32_t>(integer_of(from, "attempts"));
  step.undo_attempts = static_cast<std::uint32_t>(integer_of(from, "undo_attempts"));
  step.fell_back = flag_of(from, "fell_back");
  step.maybe_sent = flag_of(from, "maybe_sent");
  step.last_error = text_of(from, "last_error");
  return step;
}

event read_event(json::value const& from) {
  event one;
  one.kind = named(text_of(from, "kind"), event_kind::late_answer, static_cast<int>(event_kind::lock_granted));
  one.seq = sequence{static_cast<std::uint32_t>(integer_of(from, "seq"))};
  one.cause = sequence{static_cast<std::uint32_t>(integer_of(from, "cause"))};
  one.at = time_of(from, "at");
  one.step = step_path{text_of(from, "step")};
  one.op = parse_operation(text_of(from, "op")).value_or(operation::none);
  one.n = attempt{static_cast<std::uint32_t>(integer_of(from, "attempt"))};
  one.sureness = named(text_of(from, "certainty"), certainty::none, static_cast<int>(certainty::unknown));
  one.timer = named(text_of(from, "timer"), timer_kind::none, static_cast<int>(timer_kind::deadline));
  one.status = static_cast<std::int32_t>(integer_of(from, "status"));
  one.payload = raw_of(from, "payload");
  one.text = text_of(from, "text");
  one.actor = text_of(from, "actor");
  return one;
}

}  // namespace

std::string text_of(json::value const& from, std::string_view key) {
  auto const found = from.type() == json::kind::object ? from.find(key) : std::nullopt;
  return found && found->type() == json::kind::string ? found->as_string() : "";
}

std::int64_t integer_of(json::value const& from, std::string_view key) {
  auto const found = from.type() == json::kind::object ? from.find(key) : std::nullopt;
  return found && found->type() == json::kind::number ? found->as_int64().value_or(0) : 0;
}

bool flag_of(json::value const& from, std::string_view key) {
  auto const found = from.type() == json::kind::object ? from.find(key) : std::nullopt;
  return found && found->type() == json::kind::boolean && found->as_bool();
}

std::string raw_of(json::value const& from, std::string_view key) {
  auto const found = from.type() == json::kind::object ? from.find(key) : std::nullopt;
  return found && !found->is_null() ? std::string{found->raw()} : "";
}

std::vector<json::value> elements_of(json::value const& from, std::string_view key) {
  if (from.type() == json::kind::array) return from.elements();
  auto const found = from.type() == json::kind::object ? from.find(key) : std::nullopt;
  return found && found->type() == json::kind::array ? found->elements() : std::vector<json::value>{};
}

saga_row read_saga(json::value const& from) {
  saga_row row;
  row.id = saga_id::parse(text_of(from, "id")).value_or(saga_id{});
  row.definition.name = text_of(from, "saga");
  row.definition.version = definition_version{static_cast<std::uint32_t>(integer_of(from, "version"))};
  row.definition.hash = content_hash::parse(text_of(from, "definition_hash")).value_or(content_hash{});
  row.key = business_key{text_of(from, "key")};
  row.status = parse_saga_status(text_of(from, "status")).value_or(saga_status::running);
  row.started_at = time_of(from, "started_at");
  row.updated_at = time_of(from, "updated_at");
  row.ended_at = parse_timestamp(text_of(from, "ended_at"));
  row.wake_at = parse_timestamp(text_of(from, "wake_at"));
  row.cause = text_of(from, "cause");
  row.output = raw_of(from, "output");
  return row;
}

std::vector<step_view> read_steps(json::value const& saga) {
  std::vector<step_view> steps;
  for (auto const& one : elements_of(saga, "steps")) steps.push_back(read_step(one));
  return steps;
}

std::vector<event> read_events(json::value const& history) {
  std::vector<event> events;
  for (auto const& one : elements_of(history, "events")) events.push_back(read_event(one));
  return events;
}

std::vector<alert_row> read_alerts(json::value const& list) {
  std::vector<alert_row> alerts;
  for (auto const& one : elements_of(list, "alerts")) {
    alert_row row;
    row.saga = saga_id::parse(text_of(one, "saga")).value_or(saga_id{});
    row.step = step_path{text_of(one, "step")};
    row.kind = text_of(one, "kind");
    row.level = named(text_of(one, "level"), alert_level::warn, static_cast<int>(alert_level::page));
    row.text = text_of(one, "text");
    row.raised_at = time_of(one, "raised_at");
    alerts.push_back(std::move(row));
  }
  return alerts;
}

std::vector<node_view> read_nodes(json::value const& list) {
  std::vector<node_view> nodes;
  for (auto const& one : elements_of(list, "nodes")) {
    node_view made;
    made.node = node_id{text_of(one, "node")};
    made.address = text_of(one, "address");
    made.alive = flag_of(one, "alive");
    made.here = flag_of(one, "here");
    made.shards = static_cast<std::size_t>(std::max<std::int64_t>(0, integer_of(one, "shards")));
    nodes.push_back(std::move(made));
  }
  return nodes;
}

}  // namespace atone::cli
