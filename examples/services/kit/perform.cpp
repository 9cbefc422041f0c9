#include "perform.hpp"

#include <utility>

#include <atone/json.hpp>
#include <atone/participant_protocol.hpp>

namespace kit {
namespace {

using atone::errc;
using atone::error;
using atone::result;
using atone::participant::answer;
using atone::participant::outcome;
using atone::participant::sql_session;
using atone::participant::verdict;

std::int32_t status_of(error const& failure) {
  switch (failure.code) {
    case errc::invalid_argument: return 400;  // the request will never be right
    case errc::exhausted: return 429;
    case errc::unavailable:
    case errc::serialization: return 503;
    default: return 500;
  }
}

error missing(std::string_view header, std::string_view expected) {
  return error{errc::invalid_argument, "header " + std::string{header} + " is missing, expected " + std::string{expected}};
}

void count_outcome(outcome const& of, counters& count) {
  switch (of.verdict) {
    case verdict::proceed: ++(of.answer.refused ? count.refused : count.done); return;
    case verdict::duplicate: ++count.duplicates; return;
    case verdict::empty: ++count.empty; return;
    case verdict::refused: ++count.late_actions; return;
  }
}

answer injected_refusal() {
  atone::json::writer body;
  body.begin_object().key("error").string("refused on purpose (fault injection)").end_object();
  return answer::no(body.take());
}

}  // namespace

atone::http::response error_response(std::int32_t status, std::string_view text) {
  atone::json::writer body;
  body.begin_object().key("error").string(text).end_object();
  return atone::http::response{status, body.take()};
}

result<void> read_call(atone::http::request const& request, request_context& context) {
  auto const saga = request.headers.get(atone::headers::saga);
  if (saga.empty()) return missing(atone::headers::saga, "the saga's id");
  auto const step = request.headers.get(atone::headers::step);
  if (step.empty()) return missing(atone::headers::step, "the step's path");
  auto const op = request.headers.get(atone::headers::op);
  if (op.empty()) return missing(atone::headers::op, "the operation: do, compensate …");
  auto const parsed = atone::parse_operation(op);
  if (!parsed || *parsed == atone::operation::none) {
    return error{errc::invalid_argument,
                 "header " + std::string{atone::headers::op} + ": found '" + std::string{op} + "', expected do, compensate …"};
  }
  context.call.saga = saga;
  context.call.step = step;
  context.call.op = *parsed;
  context.attempt = request.headers.get(atone::headers::attempt);
  return {};
}

atone::http::response perform_reading(atone::participant::participant_database& database, route const& on, request_context const& context) {
  std::optional<std::string> body;
  auto const read = database.transact([&](sql_session& session) -> result<void> {
    auto found = on.read(session, context);
    if (!found) return found.error();
    body = std::move(*found);
    return {};
  });
  if (!read) return error_response(status_of(read.error()), read.error().message);
  if (!body) return error_response(404, "nothing is stored under this address");
  return atone::http::response{200, std::move(*body)};
}

atone::http::response perform_change(atone::participant::participant_database& database, route const& on, request_context context,
                                     bool refuse, counters& count) {
  if (on.prepare && !refuse) {
    auto prepared = on.prepare(context);
    if (!prepared) {
      ++count.errors;
      return error_response(status_of(prepared.error()), prepared.error().message);
    }
    context.prepared = std::move(*prepared);
  }
  auto const ran = database.run(context.call, [&](sql_session& session) -> result<answer> {
    if (refuse) return injected_refusal();
    return on.change(session, context);
  });
  if (!ran) {
    ++count.errors;
    return error_response(status_of(ran.error()), ran.error().message);
  }
  count_outcome(*ran, count);
  return atone::http::response{ran->answer.status, ran->answer.body};
}

}  // namespace kit
