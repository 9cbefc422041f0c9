#include <atone/feature_step.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include <atone/json.hpp>

namespace atone {
namespace {

using features::feature_service;
using features::recompute_answer;
using features::recompute_request;

// What a step's `in` may hold.
constexpr std::array<std::string_view, 5> known_keys{"set", "entity", "as_of", "known_at", "input"};

error wrong(std::string_view key, std::string const& found, std::string_view expected) {
  return error{errc::invalid_argument, std::string{key} + ": found " + found.substr(0, 80) + ", expected " + std::string{expected}};
}

// A step's key: one for the recompute and what undoes it. A recompute that is itself a compensation is another step.
std::string key_of(call const& of, bool undoes) {
  bool const is_backwards = of.op() == operation::compensate && !undoes;
  return of.saga().text() + "/" + of.step().text() + (is_backwards ? "#" + std::string{name(of.op())} : std::string{});
}

class step_input {
 public:
  static result<step_input> read(std::string const& json) {
    auto parsed = json::parse(json);
    if (!parsed) return parsed.error();
    if (parsed->type() != json::kind::object) return wrong("in", std::string{json::name(parsed->type())}, "a map");
    for (auto const& [key, value] : parsed->members()) {
      if (std::find(known_keys.begin(), known_keys.end(), key) == known_keys.end()) {
        return error{errc::invalid_argument, "in: found '" + key.substr(0, 80) + "', expected set, entity, as_of, known_at and input only"};
      }
    }
    return step_input{*std::move(parsed)};
  }

  std::optional<std::string> text(std::string_view key) const {
    auto const found = find(key);
    if (!found || found->type() != json::kind::string) return std::nullopt;
    return found->as_string();
  }
  // A text, or an integer as its text.
  result<std::string> entity() const {
    if (auto const found = text("entity"); found && !found->empty()) return *found;
    auto const found = find("entity");
    if (auto const number = found ? found->as_int64() : std::nullopt) return std::to_string(*number);
    return wrong("entity", found ? std::string{found->raw()} : "nothing", "a text or an integer");
  }
  result<std::optional<timestamp>> time(std::string_view key) const {
    using outcome = std::optional<timestamp>;
    auto const found = find(key);
    if (!found) return outcome{};
    if (auto const number = found->as_int64()) return outcome{timestamp{duration{*number}}};
    auto const words = text(key);
    if (auto const at = words ? parse_timestamp(*words) : std::nullopt) return outcome{*at};
    return wrong(key, std::string{found->raw()}, "a time as 2026-11-30T13:37:00Z, or microseconds since 1970");
  }
  result<std::optional<std::int64_t>> integer(std::string_view key) const {
    auto const found = find(key);
    if (!found) return std::optional<std::int64_t>{};
    if (auto const number = found->as_int64()) return std::optional{*number};
    return wrong(key, std::string{found->raw()}, "an integer that fits 64 bits");
  }

 private:
  explicit step_input(json::value of) : value_(std::move(of)) {}
  // Null is the same as nothing.
  std::optional<json::value> find(std::string_view key) const {
    auto found = value_.find(key);
    return found && !found->is_null() ? found : std::nullopt;
  }

  json::value value_;
};

// What an error says about the step: whether it is final, and whether something may have been done.
answer answer_of(error const& why) {
  switch (why.code) {
    case errc::invalid_argument:
    case errc::conflict:
    case errc::not_found:
    case errc::unsupported: return refused(why.message);
    case errc::unavailable:
    case errc::exhausted:
    case errc::internal: return unavailable(why.message);
    default: return unknown(why.message);
  }
}

using reply_function = std::function<void(answer)>;

std::function<void(result<recompute_answer>)> answering(reply_function const& reply) {
  return [reply](result<recompute_answer> const& made) { reply(made ? done(to_json(*made)) : answer_of(made.error())); };
}

class feature_handlers {
 public:
  feature_handlers(feature_services services, duration begin_within) : services_(std::move(services)), begin_within_(begin_within) {}

  void recompute(call const& of, reply_function const& reply) const {
    auto const in = step_input::read(of.input());
    if (!in) return reply(answer_of(in.error()));
    auto const service = find(*in);
    if (!service) return reply(answer_of(service.error()));
    auto request = read_request(*in);
    if (!request) return reply(answer_of(request.error()));
    request->key = key_of(of, false);
    request->deadline = (*service)->now() + begin_within_;
    (*service)->async_recompute(*std::move(request), answering(reply));
  }

  void republish(call const& of, reply_function const& reply) const {
    auto const in = step_input::read(of.input());
    if (!in) return reply(answer_of(in.error()));
    auto const service = find(*in);
    if (!service) return reply(answer_of(service.error()));
    auto const entity = in->entity();
    if (!entity) return reply(answer_of(entity.error()));
    (*service)->async_republish(key_of(of, true), *entity, answering(reply));
  }

 private:
  static result<recompute_request> read_request(step_input const& in) {
    auto const entity = in.entity();
    if (!entity) return entity.error();
    auto const as_of = in.time("as_of");
    if (!as_of) return as_of.error();
    if (!*as_of) return wrong("as_of", "nothing", "the time whose features are wanted: it is a part of the step, never now");
    auto const known_at = in.time("known_at");
    if (!known_at) return known_at.error();
    auto const input = in.integer("input");
    if (!input) return input.error();
    recompute_request made;
    made.entity = *entity;
    made.as_of = **as_of;
    made.known_at = *known_at;
    made.input = *input;
    return made;
  }

  result<std::shared_ptr<feature_service>> find(step_input const& in) const {
    auto const set = in.text("set");
    if (!set && services_.size() == 1) return services_.begin()->second;
    auto const found = set ? services_.find(*set) : services_.end();
    if (found != services_.end()) return found->second;
    std::string names;
    for (auto const& [name, service] : services_) names += (names.empty() ? "" : ", ") + name;
    return wrong("set", set ? "'" + *set + "'" : "nothing",
                 services_.empty() ? "a feature set, but there is none here" : "one of: " + names);
  }

  feature_services services_;
  duration begin_within_;
};

}  // namespace

void bind_features(coordinator& to, feature_services services, duration begin_within) {
  auto const handlers = std::make_shared<feature_handlers const>(std::move(services), begin_within);
  to.handle_async(feature_group, "recompute", [handlers](call const& of, auto const& reply) { handlers->recompute(of, reply); });
  to.handle_async(feature_group, "republish", [handlers](call const& of, auto const& reply) { handlers->republish(of, reply); });
}

}  // namespace atone
