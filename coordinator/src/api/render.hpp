// What the API shows, as JSON. Payloads stand in it byte for byte. Grammar: schemas/openapi.yaml.
// Thread rules: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <atone/coordinator.hpp>
#include <atone/feature_step.hpp>
#include <atone/json.hpp>
#include <atone/load.hpp>
#include <atone/records.hpp>

namespace atone::api {

// A JSON value as it is; anything else (an answer that was not JSON) as a JSON string.
void write_payload(json::writer& to, std::string const& bytes);

std::string render(saga_view const& of);
// After a start: the view plus whether the key had started it before.
std::string render(saga_view const& of, bool replayed);
std::string render(started const& of);
// `next` is what `before` takes for the page after this one, null on the last page.
std::string render_page(std::vector<saga_row> const& rows, std::uint32_t limit);
std::string render_history(saga_id id, std::vector<event> const& events);
std::string render_alerts(std::vector<alert_row> const& rows);
std::string render_nodes(std::vector<node_view> const& nodes);
std::string render_compensations(saga_id id, std::vector<compensation_entry> const& rows);
std::string render_definitions(std::vector<definition_row> const& rows);
std::string render(definition_row const& of);
// Every feature set that is served here, with what stands: a list.
void write_feature_sets(json::writer& to, feature_services const& of);
std::string render(std::string const& entity, features::served_features const& of);
std::string render(features::append_outcome const& of);
std::string render_diagnostics(std::vector<diagnostic> const& found);
std::string render(coordinator::published const& of);
std::string render_refused_definition(std::vector<diagnostic> const& found);

}  // namespace atone::api
