// What a saga is, after loading: a checked, immutable tree of steps. Made by load_definition (from YAML) or, in tests, by
// hand. Everything in here has passed lint: the machine relies on it.
// Thread rules: immutable once made; shared by pointer to const.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <atone/expression.hpp>
#include <atone/ids.hpp>
#include <atone/json_schema.hpp>
#include <atone/records.hpp>
#include <atone/time.hpp>

namespace atone {

// JSON with expressions in it: what `in`, `output`, `fallback: value` are written as.
class value_template {
 public:
  using object = std::vector<std::pair<std::string, value_template>>;
  using array = std::vector<value_template>;

  value_template() : node_(std::string{"null"}) {}
  // `json` must be one JSON value: render() puts it in as it is.
  static value_template literal(std::string json) { return value_template{std::move(json)}; }
  static value_template expression(expr::program program) { return value_template{std::move(program)}; }
  static value_template fields(object of) { return value_template{std::move(of)}; }
  static value_template items(array of) { return value_template{std::move(of)}; }

  // Which of the four it is: exactly one is not null. The pointee belongs to the template.
  std::string const* as_literal() const noexcept { return std::get_if<std::string>(&node_); }
  expr::program const* as_expression() const noexcept { return std::get_if<expr::program>(&node_); }
  object const* as_object() const noexcept { return std::get_if<object>(&node_); }
  array const* as_array() const noexcept { return std::get_if<array>(&node_); }

  // The JSON text with every expression replaced by its result. Errors are those of expr::program::evaluate.
  result<std::string> render(expr::bindings const& values) const;

 private:
  template <class T>
  explicit value_template(T node) : node_(std::move(node)) {}

  std::variant<std::string, expr::program, object, array> node_;
};

// How often and how far apart. Delay before attempt n+1 is min(cap, delay * factor^(n-1)), then jittered.
struct retry_policy {
  // Drawn from the random number of the event that decides the delay, so that a replay comes to the same.
  enum class jitter_kind : std::uint8_t { none, full, equal };  // full: uniform in [0, d]; equal: d/2 + uniform in [0, d/2]

  std::optional<std::uint32_t> attempts;  // nothing: until timeout or deadline
  duration delay = std::chrono::milliseconds{200};
  std::uint32_t factor_milli = 2000;  // 2000 = doubling; at most 1000: the delay stays as it is
  duration cap = std::chrono::seconds{30};
  jitter_kind jitter = jitter_kind::full;

  retry_policy() = default;
};

// What a step promises, and so what can be done after it failed.
enum class atomicity : std::uint8_t {
  compensable,  // has a compensation
  pivot,        // the point of no return
  retriable,    // after the pivot: repeated until done
  read_only,    // changes nothing
};
std::string_view name(atomicity of) noexcept;

// `POST /orders/{order_id}`: placeholders are taken from `in`, percent-encoded.
// With POST, PUT and PATCH `in` is the body as a whole; with other methods the fields that no placeholder takes are the query.
struct http_target {
  std::string method;
  // A part of the path.
  struct piece {
    bool placeholder = false;
    std::string text;  // literal text, or the name of the field of `in`
  };
  std::vector<piece> path;

  http_target() = default;
};
// `features recompute`: a handler in the coordinator's process.
struct local_target {
  std::string handler;  // "recompute"; registered under "service.handler"

  local_target() = default;
};

// One request to one service.
struct call_target {
  std::string service;
  std::variant<http_target, local_target> how;

  call_target() = default;
};
// One statement in the journal's own database.
struct sql_target {
  std::string text;  // with :names

  sql_target() = default;
};
using target = std::variant<call_target, sql_target>;

// How a step is undone. `in` must be computable without the step's answer: a step whose outcome is unknown is undone too.
struct compensation {
  target what;
  value_template in;                        // sees the step's own `in` and `out` as well
  retry_policy retry;                       // where it is spent, the step is parked
  duration attempt_timeout{};               // one request
  duration limit = std::chrono::hours{24};  // from its first attempt; then parked

  compensation() = default;
};

// What stands in for a step's output when the step gives none. It replaces the output, not the fact: a step that may have been done is
// still undone should the saga fail.
struct fallback {
  // Bits. timeout: the step's own. unavailable: its attempts are spent. refused: a final "no".
  enum class trigger : std::uint8_t { timeout = 1, unavailable = 2, refused = 4 };
  // A value written in the definition.
  struct constant {
    value_template value;
  };
  // Another call, sent once and not retried: when it fails, so has the fallback.
  struct call {
    target what;
    value_template in;
    duration attempt_timeout{};
  };
  // The output this step gave last under the same key, in any saga of this name.
  struct last_output {
    expr::program key;
    duration max_age{};  // older ones don't count
  };

  std::uint8_t on = 0;  // set of trigger
  std::variant<constant, call, last_output> use;
  std::optional<alert_level> alert;  // raised each time it steps in; nothing: in silence

  fallback(std::uint8_t triggers, std::variant<constant, call, last_output> what) : on(triggers), use(std::move(what)) {}
  bool covers(trigger cause) const noexcept { return (on & static_cast<std::uint8_t>(cause)) != 0; }
};

struct step;

// One sequence of a parallel step.
struct branch {
  std::string name;  // part of the paths of its steps
  std::vector<step> steps;

  branch() = default;
};

// Does something: `call` or `sql`.
struct action_verb {
  target what;
  value_template in;
  std::optional<json_schema> out;   // checked on arrival; with a wrong answer the step has failed, but counts as maybe done
  duration attempt_timeout{};       // one request
  std::optional<duration> timeout;  // the whole step with its retries, from its first request
  retry_policy retry;
  std::optional<atone::compensation> compensate;
  std::optional<atone::fallback> fallback;

  action_verb() = default;
};
// Runs branches side by side; goes on when all are done. When one fails, the others begin nothing new, and all are undone.
struct parallel_verb {
  std::vector<branch> branches;

  parallel_verb() = default;
};
// Fails the saga on purpose: what was done before it is undone.
struct fail_verb {
  value_template reason;

  fail_verb() = default;
};

// One entry of a sequence.
struct step {
  std::string id;                     // unique where it can be seen; the last part of its path
  std::uint32_t line = 0;             // where it stands in the YAML, from 1; 0 when made by hand
  std::optional<expr::program> when;  // false: the step is skipped; can't be decided: the step fails
  atomicity promise = atomicity::read_only;
  std::variant<action_verb, parallel_verb, fail_verb> verb;

  step() = default;
};

// Whom steps call. options::addresses may send an http one elsewhere.
struct service {
  enum class kind_of : std::uint8_t { http, local };

  std::string name;
  kind_of kind = kind_of::http;
  std::string address;                // "http://127.0.0.1:7001", or the local group's name
  std::uint32_t in_flight_max = 256;  // requests at a time, to one address and from one coordinator; http only
  bool barrier = true;                // it says that it keeps the barrier; lint warns otherwise

  service() = default;
};

// One version of one saga definition.
struct definition {
  static constexpr std::size_t steps_max = 1000;  // in all, those in branches included
  static constexpr std::size_t depth_max = 16;    // sequences within each other

  definition_ref ref;
  std::string text;                  // the YAML it was loaded from
  std::optional<json_schema> input;  // checked when a saga starts; nothing: any JSON
  std::vector<service> services;
  duration deadline = std::chrono::hours{24};  // from the start; then the saga is compensated, unless its pivot has been sent
  std::optional<expr::program> shard_key;      // of the input; nothing: sagas are spread by their id
  std::optional<expr::program> lock;           // of the input: of the sagas with one value one runs at a time; decides the shard too
  std::vector<step> steps;
  std::optional<value_template> output;  // nothing: null

  definition() = default;
  // Null when there is none of that name. Belongs to the definition.
  service const* find_service(std::string_view name) const noexcept;
};

using definition_ptr = std::shared_ptr<definition const>;

}  // namespace atone
