#include <atone/percent.hpp>

#include "api/routes.hpp"

namespace atone::api {
namespace {

// Takes the first segment off, without its slash.
std::string_view take_segment(std::string_view& path) noexcept {
  path.remove_prefix(1);
  auto const end = path.find('/');
  auto const segment = path.substr(0, end);
  path = end == std::string_view::npos ? std::string_view{} : path.substr(end);
  return segment;
}

}  // namespace

std::vector<route> make_routes() {
  using enum body_kind;
  std::vector<route> made{
      {"POST", "/v1/sagas/{id}", start_saga, json, false, {"wait", "version"}},
      {"GET", "/v1/sagas", list_sagas, none, false, {"saga", "definition", "status", "key_prefix", "since", "before", "limit"}},
      {"GET", "/v1/sagas/{id}", show_saga, none, false, {}},
      {"GET", "/v1/sagas/{id}/history", show_history, none, false, {}},
      {"GET", "/v1/sagas/{id}/wait", wait_for_saga, none, false, {"timeout"}},
      {"POST", "/v1/callbacks/{saga}/{op}/{attempt}", take_callback, any, true, {"step", "token", "status"}},
      {"POST", "/v1/definitions", publish_definition, yaml, false, {}},
      {"PUT", "/v1/definitions", publish_definition, yaml, false, {}},
      {"GET", "/v1/definitions", list_definitions, none, false, {}},
      {"GET", "/v1/definitions/{name}", show_definition, none, false, {"version"}},
      {"POST", "/v1/lint", lint_definition, yaml, false, {}},
      {"GET", "/v1/alerts", list_alerts, none, false, {"limit"}},
      {"GET", "/v1/compensations/{saga}", list_compensations, none, false, {}},
      {"GET", "/v1/nodes", list_nodes, none, false, {}},
      {"GET", "/v1/features", list_feature_sets, none, false, {}},
      {"POST", "/v1/features/{set}/events", append_events, json, false, {}},
      {"GET", "/v1/features/{set}/entities/{entity}", show_features, none, false, {}},
      {"GET", "/v1/stats", show_stats, none, false, {}},
      {"GET", "/health", show_health, none, true, {}},
      {"GET", "/ready", show_ready, none, true, {}},
      {"GET", "/metrics", show_metrics, none, false, {}},
  };
  for (auto const action : {"/v1/sagas/{id}/cancel", "/v1/sagas/{id}/pause", "/v1/sagas/{id}/resume", "/v1/sagas/{id}/retry",
                            "/v1/sagas/{id}/skip", "/v1/sagas/{id}/complete"}) {
    made.emplace_back("POST", action, operate_saga, json, false, std::vector<std::string_view>{});
  }
  return made;
}

std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view path) {
  std::vector<std::string> made;
  while (!pattern.empty() && !path.empty()) {
    auto const expected = take_segment(pattern);
    auto const found = take_segment(path);
    if (expected.empty() || expected.front() != '{') {
      if (expected != found) return std::nullopt;
      continue;
    }
    auto decoded = percent_decode(found);
    if (!decoded || decoded->empty()) return std::nullopt;
    made.push_back(std::move(*decoded));
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return made;
}

}  // namespace atone::api
