// The daemon itself: alive, ready, figures, alerts; and where participants report.
#include <algorithm>
#include <charconv>

#include "api/parts.hpp"
#include "api/render.hpp"

namespace atone::api {
namespace {

constexpr std::uint32_t alerts_default = 50;
constexpr std::uint32_t alerts_max = 1000;

// What a participant's report says: header or query, as it likes better.
std::string reported(call const& of, std::string_view header, std::string_view parameter) {
  auto const shown = of.request.headers.get(header);
  return shown.empty() ? find_parameter(of, parameter).value_or("") : std::string{shown};
}

struct report {
  saga_id saga;
  step_path step;
  operation op = operation::none;
  attempt n;
  std::string token;
  std::uint32_t status = 200;

  report() = default;
};

read_result<report> read_report(call const& of) {
  report made;
  auto const id = read_saga_part(of, 0);
  if (!id) return id.error();
  made.saga = *id;
  auto const op = parse_operation(of.parts.at(1));
  if (!op)
    return problem{400, "invalid_argument", "op: expected do, compensate, try, confirm, cancel, prepare, commit, abort or fallback", "op"};
  made.op = *op;
  std::uint32_t number = 0;
  auto const& text = of.parts.at(2);
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || number == 0) {
    return problem{400, "invalid_argument", "attempt: expected a whole number from 1", "attempt"};
  }
  made.n = attempt{number};
  made.step = step_path{find_parameter(of, "step").value_or("")};
  if (made.step.empty()) return problem{400, "invalid_argument", "step: expected the step's path", "step"};
  made.token = reported(of, "Atone-Token", "token");
  if (made.token.empty()) return problem{401, "unauthorized", "the token that went out with the call is needed", "token"};
  auto const status = read_number(of, "status", 200, 200, 599);
  if (!status) return status.error();
  made.status = *status;
  return made;
}

void write_figures(json::writer& to, engine_figures const& of) {
  to.key("open").number(of.open).key("started").number(of.started).key("completed").number(of.completed);
  to.key("compensated").number(of.compensated).key("events").number(of.events).key("commits").number(of.commits);
  to.key("calls").number(of.calls).key("calls_in_flight").number(of.calls_in_flight).key("late_answers").number(of.late_answers);
  to.key("queue").number(of.queue).key("writable").boolean(of.writable);
}

// What is set and what this process did, and what of the store is gone for good, whoever deleted it.
void write_retention(json::writer& to, retention_figures const& of, deletion_record const& gone) {
  to.key("retention").begin_object().key("sagas");
  of.sagas > duration{0} ? to.string(format_duration(of.sagas)) : to.null();
  to.key("keys").string(format_duration(of.keys));
  to.key("lag_seconds").number(static_cast<std::int64_t>(of.lag / std::chrono::seconds{1}));
  to.key("deleted").number(gone.sagas).key("deleted_up_to");
  gone.newest ? to.string(gone.newest->text()) : to.null();
  to.end_object();
}

result<std::string> stats(parts& in, journal_reader& from) {
  auto const counts = from.counts();
  if (!counts) return counts.error();
  auto const gone = from.deletions();
  if (!gone) return gone.error();
  auto const parked = counts->find(saga_status::parked);
  json::writer out;
  out.begin_object().key("version").string(in.options.version).key("store").string(in.sagas.store_description());
  write_figures(out, in.sagas.figures());
  out.key("parked").number(parked == counts->end() ? std::uint64_t{0} : parked->second);
  write_retention(out, in.sagas.deletions(), *gone);
  if (!in.options.features.empty()) write_feature_sets(out.key("features"), in.options.features);
  out.key("sagas").begin_object();
  for (auto const& [status, count] : *counts) out.key(name(status)).number(count);
  out.end_object().end_object();
  return out.take();
}

}  // namespace

void take_callback(parts& in, call_ptr const& of) {
  auto const read = read_report(*of);
  if (!read) return of->send(answer_of(read.error()));
  in.forwards.bring(of, read->saga, [&in, of, what = *read](forwarder::told then) {
    in.sagas.async_report(what.saga, what.step, what.op, what.n, what.token, static_cast<std::int32_t>(what.status), of->request.body,
                          [then = std::move(then)](result<void> outcome) {
                            if (outcome) return then(json_response("{}"));
                            if (outcome.error().code != errc::invalid_argument) return then(outcome.error());
                            then(answer_of(problem{403, "forbidden", outcome.error().message, "token"}));
                          });
  });
}

void list_alerts(parts& in, call_ptr const& of) {
  auto const limit = read_number(*of, "limit", alerts_default, 1, alerts_max);
  if (!limit) return of->send(answer_of(limit.error()));
  read_in_background(in, of, [most = *limit](journal_reader& from) -> result<http::response> {
    auto const rows = from.alerts(most);
    if (!rows) return rows.error();
    return json_response(render_alerts(*rows));
  });
}

void show_stats(parts& in, call_ptr const& of) {
  read_in_background(in, of, [&in](journal_reader& from) -> result<http::response> {
    auto made = stats(in, from);
    if (!made) return made.error();
    return json_response(*std::move(made));
  });
}

void list_nodes(parts& in, call_ptr const& of) {
  in.in_background(of, [&in] {
    auto found = in.sagas.nodes();
    if (!found) return answer_of(found.error());
    std::sort(found->begin(), found->end(), [](node_view const& a, node_view const& b) { return a.node.value() < b.node.value(); });
    return json_response(render_nodes(*found));
  });
}

void show_health(parts&, call_ptr const& of) {
  of->send(json_response(R"({"status":"alive"})"));
}

void show_ready(parts& in, call_ptr const& of) {
  in.in_background(of, [&in] {
    auto const written = in.sagas.check_writable();
    if (written) return json_response(R"({"status":"ready"})");
    return answer_of(problem{503, "not_ready", "the store does not take a write: " + written.error().message});
  });
}

void show_metrics(parts& in, call_ptr const& of) {
  in.in_background(of, [&in] {
    http::response made;
    made.headers.add("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    auto const nodes = in.sagas.nodes();
    made.body = in.metrics.text(in.sagas.figures(), nodes ? *nodes : std::vector<node_view>{}, in.sagas.deletions(), in.options.features);
    return made;
  });
}

}  // namespace atone::api
