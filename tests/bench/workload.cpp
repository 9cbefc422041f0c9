#include "workload.hpp"

namespace bench {
namespace {

struct step_text {
  std::string_view id;
  std::string_view service;
  std::string_view action;
  std::string_view undo;
  std::string_view in;
};

constexpr std::array<step_text, 3> steps{
    step_text{"reserve", services[0], "reserve", "release", "{order: =input.order, amount: =input.amount}"},
    step_text{"charge", services[1], "charge", "refund", "{order: =input.order, amount: =input.amount, customer: =input.customer}"},
    step_text{"ship", services[2], "ship", "cancel", "{order: =input.order, customer: =input.customer}"},
};

std::string call_of(callee to, std::string_view service, std::string_view action) {
  return "call: " + std::string{service} + (to == callee::http ? " POST /" : " ") + std::string{action};
}

std::string service_text(callee to, std::string_view name) {
  auto const at = to == callee::http ? "{http: \"http://127.0.0.1:1\", in_flight: 1024}" : "{local: " + std::string{name} + "}";
  return "  " + std::string{name} + ": " + at + "\n";
}

}  // namespace

std::string saga_name(callee to, bool refused) {
  return std::string{to == callee::http ? "http" : "local"} + (refused ? "-refused" : "-done");
}

std::string definition_text(callee to, bool refused) {
  std::string text = "saga: " + saga_name(to, refused) + R"(
version: 1
input:
  type: object
  required: [order, amount, customer, address]
  properties:
    order: {type: integer}
    amount: {type: integer, minimum: 1}
    customer: {type: string}
    address: {type: string}
defaults: {attempt_timeout: 10m}
services:
)";
  for (auto const name : services) text += service_text(to, name);
  text += "steps:\n";
  for (auto const& step : steps) {
    auto const action = refused && step.id == steps.back().id ? std::string_view{"refuse"} : step.action;
    text += "  - id: " + std::string{step.id} + "\n    " + call_of(to, step.service, action) + "\n    in: " + std::string{step.in} +
            "\n    compensate:\n      " + call_of(to, step.service, step.undo) +
            "\n      in: {order: =input.order, amount: =input.amount}\n";
  }
  return text + "output: {order: =input.order, charged: =input.amount}\n";
}

std::string input_of(std::uint64_t number) {
  return R"({"order":)" + std::to_string(number) + R"(,"amount":990,"customer":"C-48113","address":"Unter den Linden 77, 10117 Berlin"})";
}

void bind_handlers(atone::coordinator& to) {
  for (auto const& step : steps) {
    for (auto const action : {step.action, step.undo}) {
      to.handle(step.service, action, [](atone::call const&) { return atone::done("{}"); });
    }
  }
  to.handle(services.back(), "refuse", [](atone::call const&) { return atone::refused("no stock"); });
}

}  // namespace bench
