// A plan that uses every key, and what is said of one.
// Thread rules: pure.
#pragma once

#include <string>

#include "drill/plan.hpp"

namespace atone::drill {

inline std::string const whole_plan = R"(drill: whole
coordinators: ["http://127.0.0.1:7070/", "https://other:7070"]
token_file: secret
load: {saga: order, definition: order.yaml, input: '{"id": {n}, "user": {n%7}}', in_flight: 8, rate: 50, warm_up: 2s}
proxies:
  orders: {listen: "127.0.0.1:7101", to: "127.0.0.1:7001"}
processes:
  atoned: {start: atoned --listen 127.0.0.1:7070, pid_file: atoned.pid, ready: "http://127.0.0.1:7070/ready", log: atoned.log}
faults:
  - {kill: atoned, weight: 5}
  - {kill: atoned, for: 2s}
  - {pause: atoned, for: 3s}
  - {proxy: orders, delay: 500ms, jitter: 100ms, way: both, for: 10s, expect: {fallback: features, alert: fallback}}
  - {proxy: orders, stall: true, for: 1s}
  - {proxy: orders, half_open: true, for: 1s}
  - {proxy: orders, reset: true, for: 1s}
  - {proxy: orders, refuse: true, for: 1s}
  - {proxy: orders, cut: 100, way: there, for: 1s}
  - {proxy: orders, duplicate: true, for: 1s}
  - {proxy: orders, drip: 10, every: 20ms, for: 1s}
  - {proxy: orders, lose_request: true, for: 1s}
  - {proxy: orders, lose_answer: true, for: 1s}
  - {run: touch full, undo: rm full, for: 1s}
  - {clock: atoned, by: -1h, for: 1s}
rounds: 2
order: drawn
rest: 1s
must: {recover_within: 4s, back_to: 70, stays: 3s, give_up: 20s, settle: 1m, parked: 3, ended_by_themselves: 2}
audit: {orders: "http://127.0.0.1:7001"}
)";

// Its mistakes, a line each; variables: HOME is "here", nothing else is set.
inline std::string said_of(std::string const& yaml) {
  auto const done =
      load_plan_text(yaml, [](std::string const& name) { return name == "HOME" ? std::optional<std::string>{"here"} : std::nullopt; });
  std::string text;
  for (auto const& one : done.diagnostics) text += format(one, "plan.yaml") + '\n';
  return text;
}

}  // namespace atone::drill
