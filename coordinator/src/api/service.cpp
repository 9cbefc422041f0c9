#include "api/service.hpp"

#include <atomic>
#include <chrono>

#include "api/parts.hpp"
#include "http/text.hpp"

namespace atone::api {
namespace {

constexpr std::string_view no_route = "none";  // the metrics' word for what fits no pattern

std::string_view media_type(http::request const& of) noexcept {
  auto type = of.headers.get("Content-Type");
  type = type.substr(0, type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return type;
}

bool is_json(std::string_view type) noexcept {
  return http::same_name(type, "application/json") || type.ends_with("+json");
}

bool is_yaml(std::string_view type) noexcept {
  for (auto const known : {"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "application/octet-stream"}) {
    if (http::same_name(type, known)) return true;
  }
  return is_json(type);  // JSON is YAML
}

std::optional<problem> check_type(http::request const& of, body_kind expected) {
  auto const type = media_type(of);
  if (expected == body_kind::none || expected == body_kind::any || type.empty()) return std::nullopt;
  if (expected == body_kind::json ? is_json(type) : is_yaml(type)) return std::nullopt;
  auto const* const wanted = expected == body_kind::json ? "application/json" : "application/yaml";
  return problem{415, "unsupported_media_type", "Content-Type is \"" + std::string{type.substr(0, 80)} + "\", expected " + wanted,
                 "Content-Type"};
}

}  // namespace

struct service::impl {
  parts with;
  access door;
  std::vector<route> routes = make_routes();

  impl(coordinator& sagas, service_options options) : with(sagas, options), door(options.tokens, options.local_only) {}

  // The route for the call, its parts filled in; null after the call was answered.
  route const* find(call_ptr const& of, std::string_view path) const {
    std::string allowed;
    auto const method = of->request.method == "HEAD" ? std::string_view{"GET"} : std::string_view{of->request.method};
    for (auto const& one : routes) {
      auto matched = match(one.pattern, path);
      if (!matched) continue;
      of->pattern = one.pattern;
      of->parts = std::move(*matched);
      if (one.method == method) return &one;
      allowed += (allowed.empty() ? "" : ", ") + std::string{one.method};
    }
    if (allowed.empty()) {
      of->send(answer_of(problem{404, "not_found", "there is nothing at this path"}));
      return nullptr;
    }
    if (allowed.find("GET") != std::string::npos) allowed += ", HEAD";
    auto refused = answer_of(problem{405, "method_not_allowed", "this path knows " + allowed});
    refused.headers.add("Allow", allowed);
    of->send(std::move(refused));
    return nullptr;
  }

  void handle(call_ptr const& of) {
    auto target = http::parse_target(of->request.target);
    if (!target) return of->send(answer_of(problem{400, "invalid_argument", "the target can't be read: expected a path and a query"}));
    of->query = std::move(target->query);
    auto const* const to = find(of, target->path);
    if (!to) return;
    if (!to->open) {
      if (auto refused = door.check(of->request, of->actor)) return of->send(answer_of(*refused));
    }
    if (auto const known = check_parameters(*of, to->query); !known) return of->send(answer_of(known.error()));
    if (auto refused = check_type(of->request, to->body)) return of->send(answer_of(*refused));
    to->handle(with, of);
  }
};

service::service(coordinator& sagas, service_options options) : impl_(std::make_shared<impl>(sagas, std::move(options))) {}

service::~service() {
  stop();
}

void service::handle(http::request what, reply send) {
  auto const of = std::make_shared<call>();
  auto const begun = std::chrono::steady_clock::now();
  auto const method = what.method;
  bool const known_method = method.size() <= 7;  // longer ones are nobody's: they don't become a series each
  of->request = std::move(what);
  of->pattern = no_route;
  // `of` holds the sender, so the sender may not hold `of`; the pattern is set once the route is known.
  auto const answered = std::make_shared<std::atomic<bool>>(false);
  of->send = [held = impl_, weak = std::weak_ptr{of}, begun, send = std::move(send), method, known_method, answered](http::response made) {
    if (answered->exchange(true)) return;  // who waited was let go, and then the saga ended after all
    auto const alive = weak.lock();
    auto const pattern = alive ? alive->pattern : no_route;
    held->with.metrics.answered(pattern, known_method && pattern != no_route ? method : "other", made.status,
                                std::chrono::steady_clock::now() - begun);
    send(std::move(made));
  };
  impl_->handle(of);
}

void service::release_waiting() {
  impl_->with.forwards.release();
  for (auto const& of : impl_->with.waiting.close()) {
    of->send(answer_of(problem{503, "unavailable", "the daemon is stopping; the saga goes on at its next start"}));
  }
}

void service::stop() {
  impl_->with.forwards.stop();
  impl_->with.workers.stop();
}

void read_in_background(parts& in, call_ptr const& of, read_work work) {
  in.in_background(of, [&in, work = std::move(work)] {
    http::response made;
    auto const done = in.sagas.read([&](journal_reader& reader) -> result<void> {
      auto answer = work(reader);
      if (!answer) return answer.error();
      made = *std::move(answer);
      return {};
    });
    return done ? made : answer_of(done.error());
  });
}

}  // namespace atone::api
