// A service with its sagas inside: one file, one store, no daemon. Run it, kill it in the middle, run it again: it goes on.
#include <atone/coordinator.hpp>

#include <iostream>

namespace {

constexpr auto checkout = R"(
saga: checkout
version: 1
input: {type: object, required: [amount], properties: {amount: {type: integer, minimum: 1}}}
services: {shop: {local: shop}}
steps:
  - id: charge
    call: shop charge
    in: {amount: =input.amount}
    compensate: {call: shop refund, in: {amount: =input.amount}}
  - id: ship
    call: shop ship
    in: {receipt: =steps.charge.out.receipt}
    compensate: {call: shop unship, in: {}}
output: {receipt: =steps.charge.out.receipt}
)";

}  // namespace

int main(int count, char** arguments) {
  auto opened = atone::coordinator::open(atone::options{count > 1 ? arguments[1] : "sqlite:checkout.db"});
  if (!opened) return std::cerr << opened.error().message << '\n', 1;
  auto& sagas = **opened;
  sagas.handle("shop", "charge", [](atone::call const&) { return atone::done(R"({"receipt": 17})"); });
  sagas.handle("shop", "refund", [](atone::call const&) { return atone::done(); });
  sagas.handle("shop", "ship", [](atone::call const&) { return atone::done(); });
  sagas.handle("shop", "unship", [](atone::call const&) { return atone::done(); });
  if (auto ready = sagas.publish(checkout); !ready) return std::cerr << ready.error().message << '\n', 1;
  if (auto running = sagas.run(); !running) return std::cerr << running.error().message << '\n', 1;
  auto const outcome = sagas.run("checkout", atone::business_key{"order-48113"}, R"({"amount": 990})");
  if (!outcome) return std::cerr << outcome.error().message << '\n', 1;
  std::cout << name(outcome->row.status) << ' ' << outcome->row.output << '\n';
  return outcome->completed() ? 0 : 1;
}
