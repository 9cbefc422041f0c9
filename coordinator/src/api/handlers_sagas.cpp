// Starting sagas, looking at them, waiting for them, and what operators do to them.
#include <atone/utf8.hpp>

#include "api/parts.hpp"
#include "api/render.hpp"

namespace atone::api {
namespace {

constexpr std::size_t key_size_max = 255;  // bytes of a business key in a header

constexpr duration wait_default = std::chrono::seconds{30};

bool is_settled(saga_view const& of) noexcept {
  return of.ended() || of.row.status == saga_status::parked;
}

http::response stopping() {
  return answer_of(problem{503, "unavailable", "the daemon is stopping; the saga goes on at its next start"});
}

// Its end is asked for, and nobody knows that any more: waiting longer, or starting it again, would not tell either.
problem gone(saga_id id) {
  return {410, "gone",
          "saga " + id.text() +
              " was started under this key; it has ended and was deleted after its retention: how it ended is not known any more"};
}

// Waits with the call in the book of waiting ones, so that a stop can let it go.
void wait_then(parts& in, call_ptr const& of, saga_id id, duration timeout, std::function<void(result<saga_view>)> then) {
  if (!in.waiting.add(of)) return of->send(stopping());
  in.sagas.async_wait(id, timeout, [&in, of, then = std::move(then)](result<saga_view> found) {
    in.waiting.remove(of);
    then(std::move(found));
  });
}

http::response started_response(started const& of, std::string body, bool whole) {
  // 201: it was started by this request; 200: it is known from an earlier one. With a wait that ran out: 202.
  http::response made{whole ? (of.replayed ? 200 : 201) : 202, std::move(body)};
  made.headers.add("Location", "/v1/sagas/" + of.id.text());
  return made;
}

void answer_start(parts& in, call_ptr const& of, result<started> const& outcome, std::optional<duration> wait) {
  if (!outcome) return of->send(answer_of(outcome.error()));
  auto const made = *outcome;
  if (!wait) return of->send(started_response(made, render(made), true));
  if (made.gone) return of->send(answer_of(gone(made.id)));
  wait_then(in, of, made.id, *wait, [of, made](result<saga_view> found) {
    // The saga is started whatever the wait says: its id must come back.
    if (!found) return of->send(started_response(made, render(made), false));
    of->send(started_response(made, render(*found, made.replayed), is_settled(*found)));
  });
}

read_result<start_request> read_start(call const& of) {
  start_request made;
  made.saga = of.parts.at(0);
  auto const version = read_version(of);
  if (!version) return version.error();
  made.version = *version;
  auto const key = of.request.headers.get("Idempotency-Key");
  if (key.size() > key_size_max) {
    return problem{400, "invalid_argument", "Idempotency-Key: " + std::to_string(key.size()) + " bytes, expected at most 255",
                   "Idempotency-Key"};
  }
  made.key = business_key{std::string{key}};
  if (!of.request.body.empty()) made.input = of.request.body;
  if (auto const parsed = json::parse(made.input); !parsed) {
    return problem{400, "invalid_argument", "the body is not JSON: " + parsed.error().message, "body"};
  }
  return made;
}

read_result<saga_filter> read_filter(call const& of) {
  saga_filter made;
  made.definition = find_parameter(of, "saga").value_or(find_parameter(of, "definition").value_or(""));
  made.key_prefix = find_parameter(of, "key_prefix").value_or("");
  auto const limit = read_number(of, "limit", made.limit, 1, saga_filter::page_max);
  if (!limit) return limit.error();
  made.limit = *limit;
  auto const since = read_time(of, "since");
  if (!since) return since.error();
  made.since = *since;
  auto const before = read_saga_parameter(of, "before");
  if (!before) return before.error();
  made.before = *before;
  if (auto const word = find_parameter(of, "status")) {
    made.status = parse_saga_status(*word);
    if (!made.status) {
      return problem{400, "invalid_argument", "status: expected running, compensating, waiting, paused, completed, compensated or parked",
                     "status"};
    }
  }
  return made;
}

result<void> must_be_there(journal_reader& in, saga_id id) {
  auto const row = in.find(id);
  if (!row) return row.error();
  if (!*row) return no_such_saga(in, id);
  return {};
}

using action = operator_request::action_kind;

std::optional<action> action_of(std::string_view pattern) noexcept {
  auto const word = pattern.substr(pattern.rfind('/') + 1);
  for (auto const known : {action::cancel, action::pause, action::resume, action::retry, action::skip, action::complete}) {
    if (name(known) == word) return known;
  }
  return std::nullopt;
}

read_result<operator_request> read_operation(call const& of) {
  operator_request made;
  auto const which = action_of(of.pattern);
  if (!which) return problem{404, "not_found", "there is no such action"};
  made.action = *which;
  auto const id = read_saga_part(of, 0);
  if (!id) return id.error();
  made.saga = *id;
  auto const body = read_object(of, {"step", "note", "output", "actor"});
  if (!body) return body.error();
  auto const step = read_text(*body, "step");
  if (!step) return step.error();
  if (step->size() > step_path::size_max || clean_text(*step) != *step) {
    return problem{400, "invalid_argument",
                   "step: expected a step's path, UTF-8 without NUL of at most " + std::to_string(step_path::size_max) + " bytes", "step"};
  }
  made.step = step_path{*step};
  auto const note = read_text(*body, "note");
  if (!note) return note.error();
  made.note = *note;
  auto const actor = read_text(*body, "actor");
  if (!actor) return actor.error();
  // Who the token says it is stands before who they say they are.
  made.actor = actor->empty() ? of.actor : of.actor == "anonymous" ? *actor : *actor + " (" + of.actor + ")";
  auto const output = body->find("output");
  if (output) made.output = output->raw();
  if (made.action == action::complete && !output) {
    return problem{400, "invalid_argument", "complete needs the step's output, a JSON value", "output"};
  }
  return made;
}

}  // namespace

void start_saga(parts& in, call_ptr const& of) {
  auto what = read_start(*of);
  if (!what) return of->send(answer_of(what.error()));
  auto const wait = read_wait(*of, "wait", in.options.wait_max);
  if (!wait) return of->send(answer_of(wait.error()));
  in.sagas.async_start(*std::move(what), [&in, of, wait = *wait](result<started> outcome) { answer_start(in, of, outcome, wait); });
}

void list_sagas(parts& in, call_ptr const& of) {
  auto const filter = read_filter(*of);
  if (!filter) return of->send(answer_of(filter.error()));
  read_in_background(in, of, [wanted = *filter](journal_reader& from) -> result<http::response> {
    auto const rows = from.list(wanted);
    if (!rows) return rows.error();
    return json_response(render_page(*rows, wanted.limit));
  });
}

void show_saga(parts& in, call_ptr const& of) {
  auto const id = read_saga_part(*of, 0);
  if (!id) return of->send(answer_of(id.error()));
  in.sagas.async_get(*id, [of](result<saga_view> found) { of->send(found ? json_response(render(*found)) : answer_of(found.error())); });
}

void show_history(parts& in, call_ptr const& of) {
  auto const id = read_saga_part(*of, 0);
  if (!id) return of->send(answer_of(id.error()));
  read_in_background(in, of, [which = *id](journal_reader& from) -> result<http::response> {
    auto const events = from.history(which);
    if (!events) return events.error();
    // After them: where it is still there, they are all.
    if (auto there = must_be_there(from, which); !there) return there.error();
    return json_response(render_history(which, *events));
  });
}

void wait_for_saga(parts& in, call_ptr const& of) {
  auto const id = read_saga_part(*of, 0);
  if (!id) return of->send(answer_of(id.error()));
  auto const timeout = read_wait(*of, "timeout", in.options.wait_max);
  if (!timeout) return of->send(answer_of(timeout.error()));
  wait_then(in, of, *id, timeout->value_or(wait_default),
            [of](result<saga_view> found) { of->send(found ? json_response(render(*found)) : answer_of(found.error())); });
}

void operate_saga(parts& in, call_ptr const& of) {
  auto what = read_operation(*of);
  if (!what) return of->send(answer_of(what.error()));
  auto const saga = what->saga;
  in.forwards.bring(of, saga, [&in, what = *std::move(what)](forwarder::told then) {
    in.sagas.async_act(what, [then = std::move(then)](result<saga_view> found) {
      if (!found) return then(found.error());
      then(json_response(render(*found)));
    });
  });
}

void list_compensations(parts& in, call_ptr const& of) {
  auto const id = read_saga_part(*of, 0);
  if (!id) return of->send(answer_of(id.error()));
  read_in_background(in, of, [which = *id](journal_reader& from) -> result<http::response> {
    auto const rows = from.compensations(which);
    if (!rows) return rows.error();
    if (auto there = must_be_there(from, which); !there) return there.error();
    return json_response(render_compensations(which, *rows));
  });
}

}  // namespace atone::api
