// Features: events in, versions out.
#include "api/parts.hpp"
#include "api/render.hpp"

namespace atone::api {
namespace {

using service_ptr = std::shared_ptr<features::feature_service>;

read_result<service_ptr> find_set(parts const& in, call const& of) {
  auto const& name = of.parts.at(0);
  auto const found = in.options.features.find(name);
  if (found != in.options.features.end()) return found->second;
  auto const* const why =
      in.options.features.empty() ? "no feature sets are served here (atoned --features)" : "this set is not served here";
  return problem{404, "not_found", "feature set '" + name.substr(0, 80) + "': " + why};
}

read_result<features::event_table> read_rows(features::feature_set const& set, call const& of) {
  auto const body = read_object(of, {"rows"});
  if (!body) return body.error();
  auto const rows = body->find("rows");
  if (!rows) return problem{400, "invalid_argument", "rows: expected a list of maps", "rows"};
  auto made = features::rows_from_json(set, rows->raw());
  if (!made) return problem{422, "invalid_argument", made.error().message, "rows"};
  return *std::move(made);
}

// Says what changes of an answer but for its age.
std::string tag_of(features::served_features const& of) {
  return "\"" + std::to_string(of.version.number) + (of.stale ? "-stale\"" : "\"");
}

http::response answer_of(call const& of, features::served_features const& found) {
  auto const tag = tag_of(found);
  auto const wanted = of.request.headers.get("If-None-Match");
  http::response made = wanted == tag ? http::response{304, ""} : json_response(render(of.parts.at(1), found));
  made.headers.add("ETag", tag);
  return made;
}

}  // namespace

void list_feature_sets(parts& in, call_ptr const& of) {
  json::writer out;
  write_feature_sets(out.begin_object().key("sets"), in.options.features);
  of->send(json_response(out.end_object().take()));
}

void append_events(parts& in, call_ptr const& of) {
  auto const service = find_set(in, *of);
  if (!service) return of->send(answer_of(service.error()));
  bool const taken = in.workers.post([of, to = *service] {
    auto const rows = read_rows(to->set(), *of);
    if (!rows) return of->send(answer_of(rows.error()));
    to->async_append(*rows, [of](result<features::append_outcome> const& made) {
      of->send(made ? json_response(render(*made)) : answer_of(made.error()));
    });
  });
  if (!taken) of->send(answer_of(problem{503, "unavailable", "too many requests wait; try again"}));
}

void show_features(parts& in, call_ptr const& of) {
  auto const service = find_set(in, *of);
  if (!service) return of->send(answer_of(service.error()));
  auto const found = (*service)->read(of->parts.at(1));
  of->send(found ? answer_of(*of, *found) : answer_of(found.error()));
}

}  // namespace atone::api
