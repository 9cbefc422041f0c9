#include <cmath>
#include <limits>

#include "operators.hpp"

namespace atone::expr {
namespace {

bool is_numeric(type_kind kind) noexcept {
  return kind == type_kind::integer || kind == type_kind::unsigned_integer || kind == type_kind::floating;
}

template <class Whole>
outcome whole_division(expression const& at, Whole left, Whole right) {
  if (right == 0) return fault{at, "division by zero"};
  if constexpr (std::is_signed_v<Whole>) {
    if (left == std::numeric_limits<Whole>::min() && right == -1) {
      return fault{at, "integer overflow"};
    }
  }
  return datum{at.op == binary_kind::divide ? static_cast<Whole>(left / right) : static_cast<Whole>(left % right)};
}

template <class Whole>
outcome whole_numbers(expression const& at, Whole left, Whole right) {
  Whole made{};
  bool overflow = false;
  switch (at.op) {
    case binary_kind::add: overflow = __builtin_add_overflow(left, right, &made); break;
    case binary_kind::subtract: overflow = __builtin_sub_overflow(left, right, &made); break;
    case binary_kind::multiply: overflow = __builtin_mul_overflow(left, right, &made); break;
    default: return whole_division(at, left, right);
  }
  if (overflow) return fault{at, std::is_signed_v<Whole> ? "integer overflow" : "unsigned integer overflow"};
  return datum{made};
}

outcome doubles(expression const& at, double left, double right) {
  double made = 0;
  switch (at.op) {
    case binary_kind::add: made = left + right; break;
    case binary_kind::subtract: made = left - right; break;
    case binary_kind::multiply: made = left * right; break;
    case binary_kind::divide:
      if (right == 0) return fault{at, "division by zero"};
      made = left / right;
      break;
    default: return fault{at, no_overload(symbol(at.op), type_kind::floating, type_kind::floating)};
  }
  if (!std::isfinite(made)) return fault{at, "double overflow"};
  return datum{made};
}

outcome joined_text(work& budget, expression const& at, std::string const& left, std::string const& right) {
  auto const size = left.size() + right.size();
  if (size > budget.limits().result_bytes_max) {
    return fault{at, "makes a string longer than " + std::to_string(budget.limits().result_bytes_max) + " bytes", errc::exhausted};
  }
  if (!budget.spend_bytes(size)) return budget.exhausted(at);
  return datum{left + right};
}

outcome joined_lists(work& budget, expression const& at, datum const& left, datum const& right) {
  if (!budget.spend_elements(left.size() + right.size())) return budget.exhausted(at);
  auto all = left.elements();
  for (auto& element : right.elements()) all.push_back(std::move(element));
  return datum{std::move(all)};
}

}  // namespace

std::string no_overload(std::string_view symbol, type_kind left, type_kind right) {
  auto message = "'" + std::string{symbol} + "' can't take " + std::string{type_name(left)} + " and " + std::string{type_name(right)};
  bool const text = left == type_kind::string || right == type_kind::string;
  if (left != right && is_numeric(left) && is_numeric(right)) message += "; convert one side with int(), uint() or double()";
  if (symbol == "+" && text && (is_numeric(left) || is_numeric(right))) message += "; convert the number with string()";
  return message;
}

std::string too_large(datum const& huge) {
  auto const raw = huge.json()->raw();
  return "the number " + std::string{raw.substr(0, 40)} + (raw.size() > 40 ? "…" : "") +
         " is too large to calculate with; it can only be passed on";
}

outcome calculate(work& budget, expression const& at, datum const& left, datum const& right) {
  if (!budget.spend_bytes(left.plain_cost() + right.plain_cost())) return budget.exhausted(at);
  auto const a = left.plain(true), b = right.plain(true);
  for (auto const* side : {&a, &b}) {
    if (side->is_huge()) return fault{at, too_large(*side)};
  }
  auto const kind = a.kind();
  if (kind == b.kind()) {
    if (kind == type_kind::integer) return whole_numbers(at, *a.get<std::int64_t>(), *b.get<std::int64_t>());
    if (kind == type_kind::unsigned_integer) return whole_numbers(at, *a.get<std::uint64_t>(), *b.get<std::uint64_t>());
    if (kind == type_kind::floating) return doubles(at, *a.get<double>(), *b.get<double>());
    if (kind == type_kind::string && at.op == binary_kind::add) return joined_text(budget, at, *a.text(), *b.text());
    if (kind == type_kind::list && at.op == binary_kind::add) return joined_lists(budget, at, a, b);
  }
  return fault{at, no_overload(symbol(at.op), kind, b.kind())};
}

outcome negate(expression const& at, datum const& of) {
  auto const plain = of.plain(true);
  if (plain.is_huge()) return fault{at, too_large(plain)};
  if (auto const* real = plain.get<double>()) return datum{-*real};
  if (auto const* whole = plain.get<std::int64_t>()) {
    if (*whole == std::numeric_limits<std::int64_t>::min()) return fault{at, "integer overflow"};
    return datum{-*whole};
  }
  return fault{at, "'-' needs an integer or a double, found " + std::string{type_name(plain.kind())}};
}

}  // namespace atone::expr
