#include "api/render.hpp"

#include <algorithm>

namespace atone::api {
namespace {

std::uint64_t wide(std::uint32_t value) noexcept {
  return value;
}

void write_time(json::writer& to, std::string_view name, timestamp at) {
  to.key(name).string(format_timestamp(at));
}

// The members of a row, inside an object the caller opens.
void write_row(json::writer& to, saga_row const& row) {
  to.key("id").string(row.id.text()).key("saga").string(row.definition.name);
  to.key("version").number(wide(row.definition.version.value())).key("definition_hash").string(row.definition.hash.text());
  to.key("key").string(row.key.value()).key("status").string(name(row.status));
  write_time(to, "started_at", row.started_at);
  write_time(to, "updated_at", row.updated_at);
  to.key("ended_at");
  row.ended_at ? to.string(format_timestamp(*row.ended_at)) : to.null();
  to.key("wake_at");
  row.wake_at && *row.wake_at != wakes_never ? to.string(format_timestamp(*row.wake_at)) : to.null();
  to.key("cause").string(row.cause).key("output");
  row.output.empty() ? to.null() : to.raw(row.output);
  to.key("crashes").number(wide(row.crashes)).key("last_event").number(wide(row.last.value()));
}

void write_step(json::writer& to, step_view const& of) {
  to.begin_object().key("path").string(of.path.text()).key("phase").string(name(of.phase)).key("undo").string(name(of.undo));
  to.key("attempts").number(wide(of.attempts)).key("undo_attempts").number(wide(of.undo_attempts));
  to.key("fell_back").boolean(of.fell_back).key("maybe_sent").boolean(of.maybe_sent);
  to.key("last_error").string(of.last_error).end_object();
}

void write_view(json::writer& to, saga_view const& of) {
  write_row(to, of.row);
  to.key("steps").begin_array();
  for (auto const& step : of.steps) write_step(to, step);
  to.end_array().key("parked").begin_array();
  for (auto const& path : of.parked) to.string(path.text());
  to.end_array();
  if (of.lock.empty()) return;
  to.key("lock").begin_object().key("value").raw(of.lock).key("holder");
  of.lock_holder.empty() ? to.null() : to.string(of.lock_holder.text());
  to.end_object();
}

void write_event(json::writer& to, event const& of) {
  to.begin_object().key("seq").number(wide(of.seq.value())).key("cause").number(wide(of.cause.value()));
  write_time(to, "at", of.at);
  to.key("kind").string(name(of.kind));
  if (!of.step.empty()) to.key("step").string(of.step.text());
  if (of.op != operation::none) to.key("op").string(name(of.op));
  if (of.n.value() != 0) to.key("attempt").number(wide(of.n.value()));
  if (of.sureness != certainty::none) to.key("certainty").string(name(of.sureness));
  if (of.timer != timer_kind::none) to.key("timer").string(name(of.timer));
  if (of.status != 0) to.key("status").number(std::int64_t{of.status});
  if (of.retry_after.count() != 0) to.key("retry_after").string(format_duration(of.retry_after));
  if (!of.payload.empty()) {
    to.key("payload");
    write_payload(to, of.payload);
  }
  if (!of.text.empty()) to.key("text").string(of.text);
  if (!of.actor.empty()) to.key("actor").string(of.actor);
  to.end_object();
}

void write_diagnostics(json::writer& to, std::vector<diagnostic> const& found) {
  to.key("diagnostics").begin_array();
  for (auto const& one : found) {
    to.begin_object().key("line").number(wide(one.line)).key("column").number(wide(one.column));
    to.key("severity").string(one.severity == diagnostic::severity_kind::mistake ? "mistake" : "warning");
    to.key("path").string(one.path).key("message").string(one.message).key("hint").string(one.hint).end_object();
  }
  to.end_array();
}

void write_definition(json::writer& to, definition_row const& of) {
  to.key("saga").string(of.ref.name).key("version").number(wide(of.ref.version.value())).key("hash").string(of.ref.hash.text());
  write_time(to, "published_at", of.published_at);
}

std::uint64_t count_mistakes(std::vector<diagnostic> const& found) {
  return static_cast<std::uint64_t>(
      std::count_if(found.begin(), found.end(), [](diagnostic const& one) { return one.severity == diagnostic::severity_kind::mistake; }));
}

void write_counts(json::writer& to, features::feature_figures const& of) {
  to.key("entities").number(of.entities).key("events").number(of.events).key("stale").number(of.stale);
  to.key("recomputes").number(of.recomputes).key("published").number(of.published).key("superseded").number(of.superseded);
  to.key("coalesced").number(of.coalesced).key("repeated").number(of.repeated).key("republished").number(of.republished);
  to.key("refused").number(of.refused).key("differences").number(of.differences).key("rows_by_cpu").number(of.rows_by_cpu);
  to.key("rows_by_gpu").number(of.rows_by_gpu).key("log_bytes").number(of.log_bytes).key("writable").boolean(of.writable);
}

}  // namespace

void write_payload(json::writer& to, std::string const& bytes) {
  // Surrounding white space is not part of the value, everything inside is kept.
  if (auto const parsed = json::parse(bytes)) {
    to.raw(parsed->raw());
  } else {
    to.string(bytes);
  }
}

std::string render(saga_view const& of) {
  json::writer out;
  out.begin_object();
  write_view(out, of);
  return out.end_object().take();
}

std::string render(saga_view const& of, bool replayed) {
  json::writer out;
  out.begin_object().key("replayed").boolean(replayed);
  write_view(out, of);
  return out.end_object().take();
}

std::string render(started const& of) {
  json::writer out;
  out.begin_object().key("id").string(of.id.text()).key("replayed").boolean(of.replayed);
  if (of.gone) out.key("gone").boolean(true);
  return out.end_object().take();
}

std::string render_page(std::vector<saga_row> const& rows, std::uint32_t limit) {
  json::writer out;
  out.begin_object().key("sagas").begin_array();
  for (auto const& row : rows) {
    out.begin_object();
    write_row(out, row);
    out.end_object();
  }
  out.end_array().key("next");
  rows.size() >= limit && !rows.empty() ? out.string(rows.back().id.text()) : out.null();
  return out.end_object().take();
}

std::string render_history(saga_id id, std::vector<event> const& events) {
  json::writer out;
  out.begin_object().key("saga").string(id.text()).key("events").begin_array();
  for (auto const& one : events) write_event(out, one);
  return out.end_array().end_object().take();
}

std::string render_alerts(std::vector<alert_row> const& rows) {
  json::writer out;
  out.begin_object().key("alerts").begin_array();
  for (auto const& row : rows) {
    out.begin_object().key("saga").string(row.saga.text()).key("step").string(row.step.text()).key("kind").string(row.kind);
    out.key("level").string(name(row.level)).key("text").string(row.text);
    write_time(out, "raised_at", row.raised_at);
    out.end_object();
  }
  return out.end_array().end_object().take();
}

std::string render_nodes(std::vector<node_view> const& nodes) {
  json::writer out;
  out.begin_object().key("nodes").begin_array();
  for (auto const& one : nodes) {
    out.begin_object().key("node").string(one.node.value()).key("address").string(one.address);
    out.key("alive").boolean(one.alive).key("here").boolean(one.here);
    out.key("shards").number(static_cast<std::uint64_t>(one.shards));
    if (one.here) out.key("clock_offset_ms").number(static_cast<std::int64_t>(one.clock_offset / std::chrono::milliseconds{1}));
    out.end_object();
  }
  return out.end_array().end_object().take();
}

std::string render_compensations(saga_id id, std::vector<compensation_entry> const& rows) {
  json::writer out;
  out.begin_object().key("saga").string(id.text()).key("compensations").begin_array();
  for (auto const& row : rows) {
    out.begin_object().key("trace_id").string(row.trace.text()).key("step").string(row.step.text()).key("op").string(name(row.op));
    out.key("status").string(name(row.status)).key("attempts").number(wide(row.attempts)).key("last_error").string(row.last_error);
    write_time(out, "created_at", row.created_at);
    write_time(out, "updated_at", row.updated_at);
    out.end_object();
  }
  return out.end_array().end_object().take();
}

std::string render_definitions(std::vector<definition_row> const& rows) {
  json::writer out;
  out.begin_object().key("definitions").begin_array();
  for (auto const& row : rows) {
    out.begin_object();
    write_definition(out, row);
    out.end_object();
  }
  return out.end_array().end_object().take();
}

std::string render(definition_row const& of) {
  json::writer out;
  out.begin_object();
  write_definition(out, of);
  return out.key("text").string(of.text).end_object().take();
}

void write_feature_sets(json::writer& to, feature_services const& of) {
  to.begin_array();
  for (auto const& [name, service] : of) {
    auto const figures = service->figures();
    to.begin_object().key("set").string(name).key("version").number(wide(service->set().version));
    to.key("hash").string(service->set().hash.text()).key("freshness_seconds");
    figures.freshness ? to.number(static_cast<std::int64_t>(*figures.freshness / std::chrono::seconds{1})) : to.null();
    write_counts(to, figures);
    to.end_object();
  }
  to.end_array();
}

std::string render(std::string const& entity, features::served_features const& of) {
  auto const& version = of.version;
  json::writer out;
  out.begin_object().key("entity").string(entity).key("version").number(version.number).key("input").number(version.input);
  write_time(out, "as_of", version.as_of);
  write_time(out, "known_at", version.known_at);
  write_time(out, "published_at", version.published_at);
  out.key("age_seconds").number(static_cast<std::int64_t>(of.age / std::chrono::seconds{1})).key("tag").string(name(version.tag));
  out.key("stale").boolean(of.stale).key("set_hash").string(version.set.text()).key("hash").string(version.hash.text());
  return out.key("features").raw(version.json).end_object().take();
}

std::string render(features::append_outcome const& of) {
  auto const count = [](std::size_t value) { return static_cast<std::uint64_t>(value); };
  json::writer out;
  out.begin_object().key("taken").number(count(of.taken)).key("duplicates").number(count(of.left_out.duplicates));
  out.key("without_entity").number(count(of.left_out.without_entity)).key("without_id").number(count(of.left_out.without_id));
  out.key("without_time").number(count(of.left_out.without_time)).key("late").number(count(of.left_out.late));
  return out.end_object().take();
}

std::string render_diagnostics(std::vector<diagnostic> const& found) {
  json::writer out;
  auto const mistakes = count_mistakes(found);
  out.begin_object().key("ok").boolean(mistakes == 0).key("mistakes").number(mistakes);
  write_diagnostics(out, found);
  return out.end_object().take();
}

std::string render(coordinator::published const& of) {
  json::writer out;
  out.begin_object().key("saga").string(of.ref.name).key("version").number(wide(of.ref.version.value()));
  out.key("hash").string(of.ref.hash.text());
  write_diagnostics(out, of.diagnostics);
  return out.end_object().take();
}

std::string render_refused_definition(std::vector<diagnostic> const& found) {
  json::writer out;
  auto const mistakes = count_mistakes(found);
  auto const first =
      std::find_if(found.begin(), found.end(), [](diagnostic const& one) { return one.severity == diagnostic::severity_kind::mistake; });
  auto message = std::to_string(mistakes) + (mistakes == 1 ? " mistake" : " mistakes") + "; nothing was published";
  if (first != found.end()) message += ". The first: " + format(*first, "body");
  out.begin_object().key("error").begin_object().key("code").string("invalid_definition");
  out.key("message").string(message).key("field").string("body").end_object();
  write_diagnostics(out, found);
  return out.end_object().take();
}

}  // namespace atone::api
