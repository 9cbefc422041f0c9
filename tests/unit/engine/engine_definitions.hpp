// Definitions of the engine's own tests.
#pragma once

#include <string>

namespace atone::test {

// Two steps that are done by handlers of this very process.
inline std::string const local_two = R"yaml(saga: local
version: 1
services: {shop: {local: shop}}
steps:
  - id: one
    call: shop one
    compensate: {call: shop undo_one}
  - id: two
    call: shop two
    compensate: {call: shop undo_two}
)yaml";

// Two handlers of this process side by side.
inline std::string const two_packers = R"yaml(saga: packers
version: 1
services: {shop: {local: shop}}
steps:
  - id: fan
    parallel: {join: all, on_failure: cancel_rest}
    branches:
      left:
        - id: pack
          call: shop pack
          compensate: {call: shop unpack}
      right:
        - id: pack
          call: shop pack
          compensate: {call: shop unpack}
)yaml";

// What can't be undone within half an hour is a person's.
inline std::string const hurried_undo = R"yaml(saga: undone
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: first
    call: a POST /first
    compensate: {call: a DELETE /first, limit: 30m, delay: 1s}
  - id: second
    call: a POST /second
    compensate: {call: a DELETE /second}
)yaml";

// A step of another service, then one in the journal's own database.
inline std::string const ledger = R"yaml(saga: ledger
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: order
    call: a POST /order
    compensate: {call: a DELETE /order}
  - id: book
    sql: "insert into book(n) values (:n)"
    in: {n: 1}
    compensate: {sql: "delete from book where n = :n", in: {n: 1}}
  - id: tell
    call: a POST /tell
    compensate: {call: a DELETE /tell}
)yaml";

// Two branches; one of them a statement that may take a second at most.
inline std::string const hurried_ledger = R"yaml(saga: hurried
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: fan
    parallel: {join: all, on_failure: cancel_rest}
    branches:
      books:
        - id: order
          call: a POST /order
          compensate: {call: a DELETE /order}
        - id: book
          sql: "insert into book(n) values (:n)"
          in: {n: 1}
          timeout: 1s
          attempt_timeout: 1s
          compensate: {sql: "delete from book where n = :n", in: {n: 1}}
      calls:
        - id: call
          call: a POST /call
          retry: {attempts: 3, delay: 10s, jitter: none}
          compensate: {call: a DELETE /call}
)yaml";

// A deadline of a minute, and a step that may be asked twice.
inline std::string const brief = R"yaml(saga: brief
version: 1
deadline: 1m
services: {a: {http: "http://127.0.0.1:1"}}
defaults:
  retry: {attempts: 2, delay: 1s, factor: 2, cap: 10s, jitter: none}
  compensate: {delay: 1s, factor: 2, cap: 10s, jitter: none}
steps:
  - id: first
    call: a POST /first
    compensate: {call: a DELETE /first}
  - id: second
    call: a POST /second
    timeout: 10s
    compensate: {call: a DELETE /second}
)yaml";

}  // namespace atone::test
