// The order saga as the drawings are judged by: every kind of step, made by hand so that no loader stands between.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <atone/definition.hpp>

namespace atone::draw_test {

// "POST /orders/{order_id}" as the loader would have cut it.
inline http_target http(std::string method, std::vector<std::string> const& pieces) {
  http_target out;
  out.method = std::move(method);
  for (auto const& text : pieces) {
    http_target::piece piece;
    piece.placeholder = text.front() == '{';
    piece.text = piece.placeholder ? text.substr(1, text.size() - 2) : text;
    out.path.push_back(piece);
  }
  return out;
}

inline target call(std::string service, std::variant<http_target, local_target> how) {
  call_target out;
  out.service = std::move(service);
  out.how = std::move(how);
  return out;
}

inline local_target local(std::string handler) {
  local_target out;
  out.handler = std::move(handler);
  return out;
}

inline step make_step(std::string id, atomicity promise, target what) {
  action_verb action;
  action.what = std::move(what);
  step out;
  out.id = std::move(id);
  out.promise = promise;
  out.verb = std::move(action);
  return out;
}

inline step undone_by(step of, target undo) {
  compensation made;
  made.what = std::move(undo);
  std::get<action_verb>(of.verb).compensate = std::move(made);
  return of;
}

inline branch make_branch(std::string name, std::vector<step> steps) {
  branch out;
  out.name = std::move(name);
  out.steps = std::move(steps);
  return out;
}

inline step make_parallel(std::string id, std::vector<branch> branches) {
  parallel_verb verb;
  verb.branches = std::move(branches);
  step out;
  out.id = std::move(id);
  out.verb = std::move(verb);
  return out;
}

inline step with_fallback(step of, fallback what) {
  std::get<action_verb>(of.verb).fallback = std::move(what);
  return of;
}

inline definition named(std::string name, std::vector<step> steps) {
  definition out;
  out.ref.name = std::move(name);
  out.ref.version = definition_version{1};
  out.steps = std::move(steps);
  return out;
}

inline fallback constant_fallback(std::string json) {
  fallback::constant fixed;
  fixed.value = value_template::literal(std::move(json));
  auto const both = static_cast<std::uint8_t>(fallback::trigger::timeout) | static_cast<std::uint8_t>(fallback::trigger::unavailable);
  fallback out{static_cast<std::uint8_t>(both), std::move(fixed)};
  out.alert = alert_level::page;
  return out;
}

inline expr::program program(std::string_view text) {
  expr::declarations names;
  names.emplace("input", expr::type{});
  auto compiled = expr::program::compile(text, names);
  ATONE_ASSERT(compiled.has_value());
  return *compiled;
}

inline step with_last_output(step of) {
  auto const both = static_cast<std::uint8_t>(fallback::trigger::timeout) | static_cast<std::uint8_t>(fallback::trigger::unavailable);
  fallback made{static_cast<std::uint8_t>(both), fallback::last_output{program("input.user_id"), std::chrono::hours{24}}};
  made.alert = alert_level::page;
  return with_fallback(std::move(of), std::move(made));
}

// The running example: the order is undone when a later step fails; features degrade to the last good ones.
inline definition order_saga() {
  auto const user = http("POST", {"/users/", "{user}", "/spending"});
  auto const tag_path = http("PUT", {"/users/", "{user}", "/tag"});
  auto order = undone_by(make_step("order", atomicity::compensable, call("orders", http("POST", {"/orders"}))),
                         call("orders", http("DELETE", {"/orders/", "{order_id}"})));
  auto tag = undone_by(make_step("tag", atomicity::compensable, call("profiles", tag_path)), call("profiles", tag_path));
  auto profile = undone_by(make_step("profile", atomicity::compensable, call("profiles", user)), call("profiles", user));
  auto announce = undone_by(make_step("announce", atomicity::compensable, call("events", http("POST", {"/accepted"}))),
                            call("events", http("POST", {"/withdrawn"})));
  announce.when = program("input.amount >= 50");
  auto features = with_last_output(
      undone_by(make_step("features", atomicity::compensable, call("features", local("recompute"))), call("features", local("republish"))));
  auto out =
      named("order-placed", {make_step("credit", atomicity::read_only, call("profiles", http("GET", {"/users/", "{user}", "/credit"}))),
                             order, make_parallel("fan", {make_branch("profile", {tag, profile}), make_branch("announce", {announce})}),
                             features, make_step("checkpoint", atomicity::pivot, call("models", http("POST", {"/versions/", "{version}"}))),
                             make_step("notify", atomicity::retriable, call("mails", http("PUT", {"/mails/", "{order_id}"})))});
  out.ref.version = definition_version{3};
  return out;
}

}  // namespace atone::draw_test
