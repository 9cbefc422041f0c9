// What expressions see, and requests as they leave.
#include <algorithm>
#include <limits>

#include <atone/percent.hpp>

#include "planted.hpp"
#include "state.hpp"

namespace atone::machine {
namespace {

void write_outputs(json::writer& out, frame const& of);

// {"out": …} of an action, {"branch": {"step": {"out": …}}} of a finished parallel step.
void write_run(json::writer& out, step_run const& run) {
  out.key(run.of->id).begin_object();
  if (!run.output.empty()) out.key("out").raw(run.output);
  for (auto const& branch : run.branches) {
    out.key(branch.of->name).begin_object();
    write_outputs(out, branch);
    out.end_object();
  }
  out.end_object();
}

void write_outputs(json::writer& out, frame const& of) {
  for (auto const& run : of.runs) write_run(out, run);
}

// Lexical scope: the runs of each enclosing frame on the way to `at`; of a parallel step on the way only its own branch counts.
void write_scope(json::writer& out, frame const& of, std::string_view at) {
  for (auto const& run : of.runs) {
    auto const& own = run.path.text();
    bool const encloses = at.size() > own.size() && at.substr(0, own.size()) == own && at[own.size()] == '/';
    if (!encloses) {
      if (own != at) write_run(out, run);
      continue;
    }
    for (auto const& branch : run.branches) {
      auto const& prefix = branch.prefix.text();
      if (at.substr(0, prefix.size()) == prefix && at.size() > prefix.size() && at[prefix.size()] == '/') write_scope(out, branch, at);
    }
  }
}

result<std::string> scalar_text(json::value const& of, std::string_view field) {
  switch (of.type()) {
    case json::kind::string: return of.as_string();
    case json::kind::number:
    case json::kind::boolean: return std::string{of.raw()};
    default: break;
  }
  return error{errc::invalid_argument, "in." + std::string{field} + " is " + std::string{json::name(of.type())} +
                                           "; a path or query takes a string, a number or a boolean"};
}

result<std::string> path_segment(json::value const& in, std::string const& field) {
  auto const value = in.type() == json::kind::object ? in.find(field) : std::nullopt;
  if (!value) return error{errc::invalid_argument, "the path needs in." + field + ", which is missing"};
  auto text = scalar_text(*value, field);
  if (!text) return text;
  if (text->empty() || *text == "." || *text == "..") {
    return error{errc::invalid_argument, "in." + field + " is '" + *text + "', which can't stand in a path"};
  }
  return percent_encode(*text);
}

// For texts put together here of values that fitted the limits one by one: together they may be larger, deeper and more.
json::limits own_text() {
  json::limits wide;
  wide.bytes_max = wide.values_max = std::numeric_limits<std::size_t>::max();
  wide.depth_max *= 2;
  return wide;
}

bool sends_body(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

result<std::string> query_of(http_target const& to, json::value const& in) {
  std::string query;
  if (in.type() != json::kind::object) return query;
  for (auto const& [field, value] : in.members()) {
    auto const named = [&](http_target::piece const& piece) { return piece.placeholder && piece.text == field; };
    if (std::any_of(to.path.begin(), to.path.end(), named)) continue;
    auto text = scalar_text(value, field);
    if (!text) return text;
    query += query.empty() ? '?' : '&';
    query += percent_encode(field) + '=' + percent_encode(*text);
  }
  return query;
}

result<http_request_spec> http_request(http_target const& to, std::string const& in) {
  http_request_spec made;
  made.method = to.method;
  bool const fixed = std::none_of(to.path.begin(), to.path.end(), [](http_target::piece const& piece) { return piece.placeholder; });
  if (fixed && sends_body(to.method)) {  // nothing of it has to be looked at
    for (auto const& piece : to.path) made.target += piece.text;
    made.body = in;
    return made;
  }
  auto const parsed = json::parse(in, own_text());
  if (!parsed) return parsed.error();
  for (auto const& piece : to.path) {
    if (!piece.placeholder) {
      made.target += piece.text;
      continue;
    }
    auto segment = path_segment(*parsed, piece.text);
    if (!segment) return segment.error();
    made.target += *segment;
  }
  if (sends_body(to.method)) {
    made.body = in;
    return made;
  }
  auto query = query_of(to, *parsed);
  if (!query) return query.error();
  made.target += *query;
  return made;
}

result<std::variant<http_request_spec, local_request_spec, sql_request_spec>> make_request(target const& what, std::string const& in,
                                                                                           definition const& within) {
  using made = std::variant<http_request_spec, local_request_spec, sql_request_spec>;
  if (auto const* sql = std::get_if<sql_target>(&what)) {
    sql_request_spec spec;
    spec.text = sql->text;
    spec.parameters = in;
    return made{std::move(spec)};
  }
  auto const& call = std::get<call_target>(what);
  if (auto const* local = std::get_if<local_target>(&call.how)) {
    local_request_spec spec;
    auto const* const to = within.find_service(call.service);
    ATONE_ASSERT(to != nullptr);
    spec.handler = to->address + '.' + local->handler;
    spec.input = in;
    return made{std::move(spec)};
  }
  auto spec = http_request(std::get<http_target>(call.how), in);
  if (!spec) return spec.error();
  return made{std::move(*spec)};
}

// What expressions see as `saga`.
json::value saga_facts(saga_state const& of) {
  json::writer saga;
  saga.begin_object();
  saga.key("id").string(of.id.text());
  saga.key("key").string(of.key.value());
  saga.key("name").string(of.definition->ref.name);
  saga.key("version").number(std::int64_t{of.definition->ref.version.value()});
  saga.key("started_at").string(format_timestamp(of.started_at));
  saga.end_object();
  return *json::parse(saga.take());
}

}  // namespace

void mentions::look_into(expr::program const& in) noexcept {
  for (auto const& one : in.references()) {
    if (one.path.empty()) continue;
    saga = saga || one.path.front() == "saga";
    steps = steps || one.path.front() == "steps";
  }
}

void mentions::look_into(value_template const& in) noexcept {
  if (auto const* program = in.as_expression()) return look_into(*program);
  if (auto const* fields = in.as_object()) {
    for (auto const& one : *fields) look_into(one.second);
  } else if (auto const* items = in.as_array()) {
    for (auto const& one : *items) look_into(one);
  }
}

expr::bindings bindings_for(saga_state& of, step_path const& at, mentions const& what) {
  expr::bindings values;
  values.emplace("input", of.input);
  if (what.saga) {
    if (of.saga.is_null()) of.saga = saga_facts(of);
    values.emplace("saga", of.saga);
  }
  if (!what.steps) return values;
  json::writer steps;
  steps.begin_object();
  write_scope(steps, of.root, at.text());
  steps.end_object();
  auto outputs = json::parse(steps.take(), own_text());
  ATONE_ASSERT(outputs.has_value());
  values.emplace("steps", std::move(*outputs));
  return values;
}

expr::bindings undo_bindings(saga_state& of, step_run const& run, mentions const& what) {
  auto values = bindings_for(of, run.path, what);
  values.emplace("in", *json::parse(run.in, own_text()));
  // Without an answer `out` is empty: has(out.x) is false, and an unguarded out.x fails and parks.
  bool const known = !run.answer.empty() && !run.fell_back;
  if (planted(planted_bug::fallback_value_as_out) && !known) values.emplace("out", *json::parse(run.output.empty() ? "{}" : run.output));
  values.emplace("out", *json::parse(known ? run.answer : std::string{"{}"}));
  return values;
}

result<call_command> make_call(step_run const& run, target const& what, operation op, std::uint32_t number, std::string const& in,
                               duration attempt_timeout, definition const& within) {
  auto request = make_request(what, in, within);
  if (!request) return request.error();
  call_command made;
  made.step = run.path;
  made.op = op;
  made.n = attempt{number};
  if (auto const* call = std::get_if<call_target>(&what)) made.service = call->service;
  made.request = std::move(*request);
  made.attempt_timeout = attempt_timeout;
  return made;
}

// The three below were possible once (checked before the first send), and depend on nothing that changed since.
call_command action_call(step_run const& run, std::uint32_t number, definition const& within) {
  auto const& action = *run.action();
  auto made = make_call(run, action.what, operation::act, number, run.in, action.attempt_timeout, within);
  ATONE_ASSERT(made.has_value());
  return std::move(*made);
}

call_command compensation_call(step_run const& run, definition const& within) {
  auto const& how = *run.action()->compensate;
  auto made = make_call(run, how.what, operation::compensate, run.undo_attempts, run.undo_in, how.attempt_timeout, within);
  ATONE_ASSERT(made.has_value());
  return std::move(*made);
}

call_command fallback_call(step_run const& run, definition const& within) {
  auto const& other = std::get<fallback::call>(run.action()->fallback->use);
  auto made = make_call(run, other.what, operation::fallback, 1, run.undo_in, other.attempt_timeout, within);
  ATONE_ASSERT(made.has_value());
  return std::move(*made);
}

}  // namespace atone::machine
