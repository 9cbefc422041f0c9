// Publishing definitions, listing them, and lint.
#include <atone/percent.hpp>

#include "api/parts.hpp"
#include "api/render.hpp"

namespace atone::api {
namespace {

std::optional<problem> check_size(call const& of) {
  if (of.request.body.size() <= load_limits::bytes_max) return std::nullopt;
  return problem{
      413, "limit_reached",
      "the definition has " + std::to_string(of.request.body.size()) + " bytes, expected at most " + std::to_string(load_limits::bytes_max),
      "body"};
}

http::response publish(coordinator& to, std::string const& yaml) {
  auto const read = load_definition(yaml);
  if (!read.ok()) return json_response(render_refused_definition(read.diagnostics), 422);
  auto const made = to.publish(yaml);
  if (!made) return answer_of(made.error());
  auto answer = json_response(render(*made), 201);
  answer.headers.add("Location",
                     "/v1/definitions/" + percent_encode(made->ref.name) + "?version=" + std::to_string(made->ref.version.value()));
  return answer;
}

}  // namespace

void publish_definition(parts& in, call_ptr const& of) {
  if (auto refused = check_size(*of)) return of->send(answer_of(*refused));
  in.in_background(of, [&in, of] { return publish(in.sagas, of->request.body); });
}

void lint_definition(parts& in, call_ptr const& of) {
  if (auto refused = check_size(*of)) return of->send(answer_of(*refused));
  in.in_background(of, [of] { return json_response(render_diagnostics(load_definition(of->request.body).diagnostics)); });
}

void list_definitions(parts& in, call_ptr const& of) {
  read_in_background(in, of, [](journal_reader& from) -> result<http::response> {
    auto const rows = from.definitions();
    if (!rows) return rows.error();
    return json_response(render_definitions(*rows));
  });
}

void show_definition(parts& in, call_ptr const& of) {
  auto const version = read_version(*of);
  if (!version) return of->send(answer_of(version.error()));
  read_in_background(in, of, [name = of->parts.at(0), wanted = *version](journal_reader& from) -> result<http::response> {
    auto const row = from.definition(name, wanted);
    if (!row) return row.error();
    if (*row) return json_response(render(**row));
    auto const which = wanted ? name + '@' + std::to_string(wanted->value()) : name;
    return error{errc::not_found, "no definition '" + which.substr(0, 200) + "' is published"};
  });
}

}  // namespace atone::api
