// The table of routes: which path and method goes where. schemas/openapi.yaml describes the same table; a test compares them.
// Thread rules: the table is constant.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.hpp"

namespace atone::api {

struct parts;

// What a request's body may be, by Content-Type.
enum class body_kind : unsigned char {
  none,  // ignored
  json,  // application/json; no Content-Type passes, those a foreign web page can send without asking do not
  yaml,
  any,
};

struct route {
  std::string_view method;
  std::string_view pattern;  // "/v1/sagas/{id}/history"
  void (*handle)(parts&, call_ptr const&);
  body_kind body = body_kind::none;
  bool open = false;                    // needs no token: health, or guarded by one of its own
  std::vector<std::string_view> query;  // the parameters it knows

  route(std::string_view verb, std::string_view path, void (*to)(parts&, call_ptr const&), body_kind kind, bool is_open,
        std::vector<std::string_view> known)
      : method(verb), pattern(path), handle(to), body(kind), open(is_open), query(std::move(known)) {}
};

std::vector<route> make_routes();

// What the braces of `pattern` match in `path`, decoded; nothing when it does not fit.
std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view path);

// ---- the handlers (handlers_*.cpp) ----
void start_saga(parts& in, call_ptr const& of);
void list_sagas(parts& in, call_ptr const& of);
void show_saga(parts& in, call_ptr const& of);
void show_history(parts& in, call_ptr const& of);
void wait_for_saga(parts& in, call_ptr const& of);
void operate_saga(parts& in, call_ptr const& of);
void take_callback(parts& in, call_ptr const& of);
void publish_definition(parts& in, call_ptr const& of);
void list_definitions(parts& in, call_ptr const& of);
void show_definition(parts& in, call_ptr const& of);
void lint_definition(parts& in, call_ptr const& of);
void list_alerts(parts& in, call_ptr const& of);
void list_compensations(parts& in, call_ptr const& of);
void list_nodes(parts& in, call_ptr const& of);
void show_stats(parts& in, call_ptr const& of);
void list_feature_sets(parts& in, call_ptr const& of);
void append_events(parts& in, call_ptr const& of);
void show_features(parts& in, call_ptr const& of);
void show_health(parts& in, call_ptr const& of);
void show_ready(parts& in, call_ptr const& of);
void show_metrics(parts& in, call_ptr const& of);

}  // namespace atone::api
