#include "cli/example_saga.hpp"

namespace atone::cli {
namespace {

constexpr std::string_view head = R"(# A saga: steps that all take effect, or none does. Check it by `atone lint`, draw it by `atone draw`.
)";

constexpr std::string_view body = R"(version: 1                       # published versions never change: count up instead

input:                           # JSON Schema; checked before anything is started
  type: object
  required: [order_id, customer, amount]
  properties:
    order_id: {type: integer}
    customer: {type: string}
    amount: {type: integer, minimum: 0}      # minor units

deadline: 15m                    # the way forward ends here; undoing has its own limits

defaults:
  attempt_timeout: 3s            # one request
  retry: {attempts: 5, delay: 200ms, factor: 2, cap: 10s, jitter: full}

services:                        # defaults; a deployment may name other addresses
  orders:   {http: "http://127.0.0.1:7001"}
  payments: {http: "http://127.0.0.1:7002"}
  mail:     {http: "http://127.0.0.1:7003"}

steps:
  - id: order
    call: orders POST /orders                  # a value that begins with = is an expression
    in: {order_id: =input.order_id, customer: =input.customer}
    compensate:                                # computed from input, ids and in: the answer may never have come
      call: orders DELETE /orders/{order_id}
      in: {order_id: =input.order_id}

  - id: payment
    call: payments PUT /payments/{payment}
    in: {payment: =saga.id, amount: =input.amount}
    pivot: true                                # the point of no return: before it all is undone, after it all gets done
    compensate:                                # for one case only: a refusal after a request whose answer never came
      call: payments DELETE /payments/{payment}
      in: {payment: =saga.id}

  - id: confirmation
    when: =input.amount > 0
    call: mail POST /messages
    in: {to: =input.customer, order: =input.order_id}
    retriable: true                            # after the pivot: repeated until it succeeds

output: {order: =input.order_id}
)";

}  // namespace

std::string example_saga(std::string_view name) {
  std::string text{head};
  text += "saga: ";
  text += name;
  text += '\n';
  text += body;
  return text;
}

}  // namespace atone::cli
