// Definitions that several tests use.
#pragma once

#include <string>

namespace atone::test {

// `count` steps in a row, s1 … sN, each with a compensation.
inline std::string sequence_of(int count, std::string const& extra = {}) {
  std::string yaml = "saga: row\nversion: 1\nservices:\n  a: {http: \"http://127.0.0.1:1\"}\n" + extra + "steps:\n";
  for (int n = 1; n <= count; ++n) {
    auto const id = "s" + std::to_string(n);
    yaml += "  - id: " + id + "\n    call: a POST /" + id + "\n    in: {n: " + std::to_string(n) + "}\n" +
            "    retry: {attempts: 2, delay: 1s, factor: 2, cap: 10s, jitter: none}\n" + "    compensate: {call: a DELETE /" + id +
            ", in: {n: " + std::to_string(n) + "}, attempts: 3, delay: 1s, factor: 2, cap: 10s, jitter: none}\n";
  }
  return yaml;
}

// before, then branches left (l1, l2), middle (m1) and right (r1, r2), then after.
inline std::string const fan = R"(saga: fan
version: 1
services:
  a: {http: "http://127.0.0.1:1"}
defaults:
  retry: {attempts: 2, delay: 1s, factor: 2, cap: 10s, jitter: none}
  compensate: {attempts: 2, delay: 1s, factor: 2, cap: 10s, jitter: none}
steps:
  - id: before
    call: a POST /before
    compensate: {call: a DELETE /before}
  - id: fan
    parallel: {join: all, on_failure: cancel_rest}
    branches:
      left:
        - id: one
          call: a POST /l1
          compensate: {call: a DELETE /l1}
        - id: two
          call: a POST /l2
          compensate: {call: a DELETE /l2}
      middle:
        - id: one
          call: a POST /m1
          compensate: {call: a DELETE /m1}
      right:
        - id: one
          call: a POST /r1
          compensate: {call: a DELETE /r1}
        - id: two
          call: a POST /r2
          compensate: {call: a DELETE /r2}
  - id: after
    call: a POST /after
    compensate: {call: a DELETE /after}
)";

// reserve, then the pivot pay, then ship (retriable) and tell (read only).
inline std::string const pivot = R"(saga: pivot
version: 1
services:
  a: {http: "http://127.0.0.1:1"}
deadline: 10m
defaults:
  retry: {attempts: 3, delay: 1s, factor: 2, cap: 10s, jitter: none}
steps:
  - id: reserve
    call: a POST /reserve
    compensate: {call: a DELETE /reserve}
  - id: pay
    call: a POST /pay
    pivot: true
  - id: ship
    call: a POST /ship
    retriable: true
  - id: tell
    call: a GET /tell
    read_only: true
)";

}  // namespace atone::test
